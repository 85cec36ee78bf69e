import Testing

@testable import HTTPClient

@Suite("Read-ahead of a stream")
struct ReadAheadTests {
    @Test("The buffer doubles for a reader that keeps up, up to half a megabyte")
    func grows() {
        var ahead = ReadAhead(64 << 10)
        ahead.taken(64 << 10)
        #expect(ahead.size == 128 << 10)
        ahead.taken(64 << 10)
        #expect(ahead.size == 256 << 10)
        for _ in 0..<10 { ahead.taken(512 << 10) }
        #expect(ahead.size == ReadAhead.most)
    }

    @Test("Small pieces, like the tokens of a model, leave the buffer unchanged")
    func littleAtATime() {
        var ahead = ReadAhead(64 << 10)
        for _ in 0..<1000 { ahead.taken(200) }
        #expect(ahead.size == 64 << 10)
    }

    @Test("A quick reader after a pause gets a larger buffer, and a slow one the initial size")
    func holdUps() {
        var ahead = ReadAhead(16 << 10)
        ahead.released(after: 1000)
        ahead.released(after: ReadAhead.patience)
        #expect(ahead.size == 64 << 10)
        ahead.released(after: ReadAhead.patience + 1)
        #expect(ahead.size == 16 << 10)
        ahead.released(after: 1_000_000_000)
        #expect(ahead.size == 16 << 10)
    }

    @Test("The buffer never shrinks below the request's size")
    func usual() {
        var ahead = ReadAhead(512 << 10)
        ahead.taken(512 << 10)
        ahead.released(after: 1)
        ahead.released(after: .max)
        #expect(ahead.size == 512 << 10)
    }
}
