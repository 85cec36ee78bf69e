import HTTPCore
import Testing

@Suite("Bodies in gzip")
struct GzipTests {
    @Test("What was compressed is read again, also from several members")
    func whole() throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let compressed = try #require(Gzip.compress(bytes))
        #expect(try Gzip.decompress(compressed, limit: bytes.count) == bytes)
        #expect(try Gzip.decompress(compressed + compressed, limit: 600_000) == bytes + bytes)
    }

    @Test("What becomes more than the limit is refused before it is made")
    func bomb() throws {
        let compressed = try #require(Gzip.compress([UInt8](repeating: 0, count: 1 << 24)))
        #expect(compressed.count < 1 << 17)
        #expect(throws: Gzip.Problem.tooLarge) { try Gzip.decompress(compressed, limit: 1 << 20) }
        #expect(throws: Gzip.Problem.tooLarge) { try Gzip.decompress(compressed, limit: 0) }
    }

    @Test("What is cut, followed by something else or no gzip is malformed")
    func malformed() throws {
        let compressed = try #require(Gzip.compress([UInt8](repeating: 7, count: 5_000)))
        for end in [0, 1, 9, 12, compressed.count - 1] {
            #expect(throws: Gzip.Problem.malformed) { try Gzip.decompress(Array(compressed[..<end]), limit: 1 << 20) }
        }
        #expect(throws: Gzip.Problem.malformed) { try Gzip.decompress(compressed + [1, 2, 3], limit: 1 << 20) }
        #expect(throws: Gzip.Problem.malformed) { try Gzip.decompress(Array("rubbish".utf8), limit: 1 << 20) }
    }
}
