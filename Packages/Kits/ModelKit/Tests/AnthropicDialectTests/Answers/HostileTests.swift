@_spi(Fuzzing) import AnthropicDialect
import Capabilities
import CoreTesting
import DialectTesting
import Glibc
import JSON
import ModelKit
import Testing

@Suite("Hostile servers", .timeLimit(.minutes(5)))
struct HostileTests {
    private let begun = #"{"type":"message_start","message":{"id":"i","model":"m"}}"#
    private let text = #"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ok"}}"#

    @Test("Random bytes and corrupted fixtures never crash or hang the reader")
    func random() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let count = Int.random(in: 0..<200, using: &random)
            AnthropicFuzzTarget.read((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        }
        var failures = 0
        for _ in 0..<600 {
            guard let fixture = Fixture.all.randomElement(using: &random) else { continue }
            var bytes = fixture.bytes
            for _ in 0..<Int.random(in: 1..<6, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            }
            if let heard = try? hear([bytes]), heard.reading.failure != nil { failures += 1 }
            AnthropicFuzzTarget.read(bytes)
        }
        #expect(failures > 100, "seed \(seed)")
    }

    @Test("Truncated JSON is an error that shows its beginning")
    func truncated() throws {
        for end in 1..<text.utf8.count {
            let cut = String(decoding: text.utf8.prefix(end), as: UTF8.self)
            let stream = Fixture.event(begun) + "event: content_block_delta\ndata: \(cut)\n\n"
            try #require(hear([Array(stream.utf8)]).reading.failure == "model.malformed", "cut at \(end)")
        }
        // Unknown events need not be JSON.
        let stream = Fixture.event(begun) + "event: weather\ndata: {rain\n\n"
        #expect(try hear([Array(stream.utf8)]).reading.failure == "model.cut")
    }

    @Test("Bytes that are not UTF-8 are replaced")
    func badUTF8() throws {
        let end = #"{"type":"message_stop"}"#
        var bytes = Array([begun, text, end].map { Fixture.event($0) }.joined().utf8)
        let place = try #require(
            bytes.indices.last {
                bytes[$0] == UInt8(ascii: "k") && bytes[$0 - 1] == UInt8(ascii: "o") && bytes[$0 + 1] == 0x22
            })
        bytes[place] = 0xFF
        #expect(try hear([bytes]).reading.text == "o\u{FFFD}")
    }

    @Test("Deep nesting is refused", arguments: ["[", #"{"a":"#])
    func deep(_ opening: String) throws {
        let nest = String(repeating: opening, count: 10_000)
        let inside = #"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":\#(nest)"#
        for data in [nest, inside] {
            let stream = Fixture.event(begun) + "event: content_block_delta\ndata: \(data)\n\n"
            #expect(try hear([Array(stream.utf8)]).reading.failure == "model.too-large")
            var events: [ChatEvent] = []
            #expect(throws: DialectError.self) { try AnthropicDialect().answer(in: Array(data.utf8), into: &events) }
        }
    }

    @Test("Endless text, reasoning, input, calls and blocks are refused at their limits")
    func endless() throws {
        let piece = String(repeating: "x", count: 1 << 20)
        func count(_ most: Int, _ event: (Int) -> String) throws -> Int {
            var reader = AnthropicDialect().reader()
            var events: [ChatEvent] = []
            try reader.receive("message_start", Array(begun.utf8), into: &events)
            for number in 0..<most {
                do {
                    try reader.receive("", Array(event(number).utf8), into: &events)
                } catch {
                    #expect(error.kind == .tooLarge)
                    return number
                }
                events = []
            }
            return most
        }
        func delta(_ type: String, _ key: String) -> String {
            #"{"type":"content_block_delta","index":0,"delta":{"type":"\#(type)","\#(key)":"\#(piece)"}}"#
        }
        func start(_ index: Int, _ type: String) -> String {
            #"{"type":"content_block_start","index":\#(index),"content_block":{"type":"\#(type)","id":"a","name":"b"}}"#
        }
        #expect(try count(100) { _ in delta("text_delta", "text") } == 16)
        #expect(try count(100) { _ in delta("thinking_delta", "thinking") } == 16)
        let input = delta("input_json_delta", "partial_json")
        #expect(try count(100) { $0 == 0 ? start(0, "tool_use") : input } == 17)
        #expect(try count(2000) { start($0, "tool_use") } == 1000)
        #expect(try count(20_000) { start($0, "new") } == 10_000)
    }

    @Test("A line of 100 MB is refused without using more memory")
    func hugeLine() async {
        // In a separate process, whose memory no other test uses.
        await #expect(processExitsWith: .success) {
            var reader = AnthropicDialect().reader()
            var events: [ChatEvent] = []
            let begun = #"{"type":"message_start","message":{"id":"i","model":"m"}}"#
            try reader.receive("message_start", Array(begun.utf8), into: &events)
            var line = Array(#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":""#.utf8)
            line.reserveCapacity(100_000_000)
            line += [UInt8](repeating: 0x78, count: 99_000_000)
            line += Array(#""}}"#.utf8)
            let before = peakKilobytes()
            let error = #expect(throws: DialectError.self) {
                try reader.receive("content_block_delta", line, into: &events)
            }
            #expect(error?.kind == .tooLarge)
            #expect(peakKilobytes() - before < 4096)
        }
    }

    @Test("Nothing is read after the end")
    func afterTheEnd() throws {
        var reader = AnthropicDialect().reader()
        var events: [ChatEvent] = []
        for data in [begun, text, #"{"type":"message_stop"}"#, text, "garbage"] {
            try reader.receive("", Array(data.utf8), into: &events)
        }
        #expect(reader.isComplete)
        #expect(try reader.finish(into: &events).message.text == "ok")
    }
}

/// The peak memory of this process.
private func peakKilobytes() -> Int {
    var usage = rusage()
    return unsafe getrusage(RUSAGE_SELF.rawValue, &usage) == 0 ? usage.ru_maxrss : 0
}
