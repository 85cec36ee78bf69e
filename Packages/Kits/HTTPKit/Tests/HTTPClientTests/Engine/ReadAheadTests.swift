import Testing

@testable import HTTPClient

@Suite("How much of a stream may wait for its reader")
struct ReadAheadTests {
    @Test("it doubles for a reader that takes what is there in time, up to half a megabyte")
    func grows() {
        var ahead = ReadAhead(64 << 10)
        ahead.taken(64 << 10)
        #expect(ahead.size == 128 << 10)
        ahead.taken(64 << 10)
        #expect(ahead.size == 256 << 10)
        for _ in 0..<10 { ahead.taken(512 << 10) }
        #expect(ahead.size == ReadAhead.most)
    }

    @Test("a little at a time, as the words of a model come, changes nothing")
    func littleAtATime() {
        var ahead = ReadAhead(64 << 10)
        for _ in 0..<1000 { ahead.taken(200) }
        #expect(ahead.size == 64 << 10)
    }

    @Test("a reader that comes soon after the server was held up gets more, and a slow one what it had at first")
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

    @Test("what a request asks for is never taken away")
    func usual() {
        var ahead = ReadAhead(512 << 10)
        ahead.taken(512 << 10)
        ahead.released(after: 1)
        ahead.released(after: .max)
        #expect(ahead.size == 512 << 10)
    }
}
