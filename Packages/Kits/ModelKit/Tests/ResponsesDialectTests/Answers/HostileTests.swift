import Capabilities
import CoreTesting
import DialectTesting
import Glibc
import JSON
import ModelKit
@_spi(Fuzzing) import ResponsesDialect
import Testing

@Suite("Hostile servers", .timeLimit(.minutes(5)))
struct HostileTests {
    private let begun = #"{"type":"response.created","response":{"id":"i","model":"m"}}"#
    private let text = #"{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"ok"}"#

    @Test("Random bytes and corrupted fixtures never crash or hang the reader")
    func random() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let count = Int.random(in: 0..<200, using: &random)
            ResponsesFuzzTarget.read((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
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
            ResponsesFuzzTarget.read(bytes)
        }
        #expect(failures > 100, "seed \(seed)")
    }

    @Test("Truncated JSON is an error that shows its beginning")
    func truncated() throws {
        for end in 1..<text.utf8.count {
            let cut = String(decoding: text.utf8.prefix(end), as: UTF8.self)
            let stream = Fixture.event(begun) + "event: response.output_text.delta\ndata: \(cut)\n\n"
            try #require(hear([Array(stream.utf8)]).reading.failure == "model.malformed", "cut at \(end)")
        }
        // Unknown events need not be JSON.
        let stream = Fixture.event(begun) + "event: weather\ndata: {rain\n\n"
        #expect(try hear([Array(stream.utf8)]).reading.failure == "model.cut")
    }

    @Test("Bytes that are not UTF-8 are replaced")
    func badUTF8() throws {
        let end = #"{"type":"response.completed","response":{}}"#
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
        let inside = #"{"type":"response.output_text.delta","output_index":0,"delta":\#(nest)"#
        for data in [nest, inside] {
            let stream = Fixture.event(begun) + "event: response.output_text.delta\ndata: \(data)\n\n"
            #expect(try hear([Array(stream.utf8)]).reading.failure == "model.too-large")
            var events: [ChatEvent] = []
            #expect(throws: DialectError.self) { try ResponsesDialect().answer(in: Array(data.utf8), into: &events) }
        }
    }

    @Test("Endless text, reasoning, input, calls and blocks are refused at their limits")
    func endless() throws {
        let piece = String(repeating: "x", count: 1 << 20)
        func count(_ most: Int, _ event: (Int) -> String) throws -> Int {
            var reader = ResponsesDialect().reader()
            var events: [ChatEvent] = []
            try reader.receive("response.created", Array(begun.utf8), into: &events)
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
        func delta(_ type: String) -> String {
            #"{"type":"response.\#(type).delta","output_index":0,"delta":"\#(piece)"}"#
        }
        func added(_ index: Int, _ type: String) -> String {
            #"{"type":"response.output_item.added","output_index":\#(index),"item":{"type":"\#(type)","name":"b"}}"#
        }
        #expect(try count(100) { _ in delta("output_text") } == 16)
        #expect(try count(100) { _ in delta("reasoning_summary_text") } == 16)
        let input = delta("function_call_arguments")
        #expect(try count(100) { $0 == 0 ? added(0, "function_call") : input } == 17)
        #expect(try count(2000) { added($0, "function_call") } == 1000)
        #expect(try count(20_000) { added($0, "new") } == 10_000)
    }

    @Test("A line of 100 MB is refused without using more memory")
    func hugeLine() async {
        // In a separate process, whose memory no other test uses.
        await #expect(processExitsWith: .success) {
            var reader = ResponsesDialect().reader()
            var events: [ChatEvent] = []
            let begun = #"{"type":"response.created","response":{"id":"i","model":"m"}}"#
            try reader.receive("response.created", Array(begun.utf8), into: &events)
            var line = Array(#"{"type":"response.output_text.delta","output_index":0,"delta":""#.utf8)
            line.reserveCapacity(100_000_000)
            line += [UInt8](repeating: 0x78, count: 99_000_000)
            line += Array(#""}"#.utf8)
            let before = peakKilobytes()
            let error = #expect(throws: DialectError.self) {
                try reader.receive("response.output_text.delta", line, into: &events)
            }
            #expect(error?.kind == .tooLarge)
            #expect(peakKilobytes() - before < 4096)
        }
    }

    @Test("Nothing is read after the end")
    func afterTheEnd() throws {
        var reader = ResponsesDialect().reader()
        var events: [ChatEvent] = []
        for data in [begun, text, #"{"type":"response.completed","response":{}}"#, text, "garbage"] {
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
