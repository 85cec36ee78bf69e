import CoreTesting
import Testing

@_spi(Fuzzing) @testable import RPCKit

@Suite("Cutting a stream into messages")
struct FrameCutterTests {
    private static func cut(
        _ text: String, _ framing: RPCFraming, limit: Int = 1_000, pieces: Int
    ) throws -> [FrameCutter.Frame] {
        var cutter = FrameCutter(framing, limit: limit)
        var frames: [FrameCutter.Frame] = []
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            try cutter.take(Array(bytes[start..<min(start + pieces, bytes.count)])) { frames.append($0) }
        }
        if let rest = cutter.takeRest() { frames.append(rest) }
        return frames
    }

    private static func message(_ text: String) -> FrameCutter.Frame { .message(Array(text.utf8)) }

    @Test("Lines are the same in pieces of every size; blank ones are skipped, and the last needs no line break")
    func lines() throws {
        let text = "one\n\n \r\ntwo\r\n{\"three\": 3}\nfour"
        for pieces in 1...text.utf8.count {
            #expect(
                try Self.cut(text, .lines, pieces: pieces)
                    == [
                        Self.message("one"), Self.message("two\r"), Self.message("{\"three\": 3}"),
                        Self.message("four"),
                    ])
        }
    }

    @Test("A line over the limit is skipped, and what follows is read; its beginning is kept")
    func longLine() throws {
        let long = "{\"id\":7," + String(repeating: "x", count: 50_000)
        for pieces in [1, 7, 4_096, 100_000] {
            let frames = try Self.cut("a\n\(long)\nb\n", .lines, pieces: pieces)
            guard frames.count == 3, case .tooLong(let start) = frames[1] else {
                Issue.record("\(frames.count) frames in pieces of \(pieces)")
                continue
            }
            #expect(frames[0] == Self.message("a") && frames[2] == Self.message("b"))
            #expect(RPCID(beginningOf: start) == RPCID(7))
        }
    }

    @Test("A line that never ends is not kept")
    func endless() throws {
        var cutter = FrameCutter(.lines, limit: 1_000)
        var frames = 0
        for _ in 0..<10_000 { try cutter.take([UInt8](repeating: 0x78, count: 10_000)) { _ in frames += 1 } }
        #expect(frames == 1 && cutter.held < 20_000)
    }

    @Test("Messages with a header are the same in pieces of every size")
    func headers() throws {
        let text = "Content-Length: 2\r\n\r\n{}content-length:3\nX-Other: a\n\n[1]\r\nContent-Length: 0\r\n\r\n"
        for pieces in 1...text.utf8.count {
            #expect(
                try Self.cut(text, .contentLength, pieces: pieces)
                    == [Self.message("{}"), Self.message("[1]"), Self.message("")])
        }
    }

    @Test("A message over the limit is skipped by its length")
    func longMessage() throws {
        let long = String(repeating: "y", count: 5_000)
        for pieces in [1, 10, 10_000] {
            let text = "Content-Length: 5000\r\n\r\n\(long)Content-Length: 2\r\n\r\n{}"
            let frames = try Self.cut(text, .contentLength, pieces: pieces)
            guard frames.count == 2, case .tooLong = frames[0] else {
                Issue.record("\(frames.count) frames in pieces of \(pieces)")
                continue
            }
            #expect(frames[1] == Self.message("{}"))
        }
    }

    @Test(
        "A header that cannot be read is told, not guessed",
        arguments: [
            "{\"jsonrpc\":\"2.0\"}\n", "Content-Length: -1\r\n\r\n", "Content-Length: many\r\n\r\n", ": 5\r\n\r\n",
            String(repeating: "X", count: 10_000),
        ])
    func badHeader(text: String) {
        #expect(throws: RPCFailure.self) { try Self.cut(text, .contentLength, pieces: 50) }
    }

    @Test("Random bytes in random pieces never crash it", arguments: [1, 2, 3])
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 0...60, using: &generator) {
                bytes.append(Array("Content-Length: 12\r\n\n{}x".utf8).randomElement(using: &generator) ?? 0)
            }
            let framing: RPCFraming = Bool.random(using: &generator) ? .lines : .contentLength
            var cutter = FrameCutter(framing, limit: 8)
            var place = 0
            var count = 0
            do {
                while place < bytes.count {
                    let end = min(bytes.count, place + Int.random(in: 1...9, using: &generator))
                    try cutter.take(Array(bytes[place..<end])) { frame in
                        count += 1
                        if case .message(let message) = frame { #expect(message.count <= 8) }
                    }
                    place = end
                }
                _ = cutter.takeRest()
            } catch { #expect(framing == .contentLength && error.kind == .malformed) }
            #expect(count <= bytes.count)
        }
    }

    @Test("Random texts near messages are read alike in all pieces", arguments: [1, 2, 3, 4])
    func fuzz(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let parts = [
            "{\"jsonrpc\":\"2.0\"", ",\"id\":", "1", "\"a\"", ",\"method\":\"m\"", ",\"params\":", "[1,2]", "{", "}",
            "\n",
            ",\"result\":", "null", "1.5e3", ",\"error\":", "{\"code\":1}", "Content-Length: ", "17", "\r\n", "\u{0}",
            "é",
        ]
        for _ in 0..<500 {
            var text = ""
            for _ in 0..<Int.random(in: 1...20, using: &generator) {
                text += parts.randomElement(using: &generator) ?? ""
            }
            RPCFuzzTarget.read(Array(text.utf8))
        }
    }
}
