import Capabilities
import CoreTesting
import DialectTesting
import Glibc
import JSON
import ModelKit
@_spi(Fuzzing) import OpenAIDialect
import Testing

@Suite("Hostile servers", .timeLimit(.minutes(5)))
struct HostileTests {
    private let text = #"{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"ok"}}]}"#

    @Test("Random bytes and corrupted fixtures never crash or hang the reader")
    func random() {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let count = Int.random(in: 0..<200, using: &random)
            OpenAIFuzzTarget.read((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
        }
        var failures = 0
        for _ in 0..<600 {
            guard let fixture = Fixture.all.randomElement(using: &random) else { continue }
            var bytes = fixture.bytes
            for _ in 0..<Int.random(in: 1..<6, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: .min ... .max, using: &random)
            }
            if let heard = try? hear([bytes], fixture.quirks), heard.reading.failure != nil { failures += 1 }
            OpenAIFuzzTarget.read(bytes.filter { $0 != 10 })
        }
        #expect(failures > 100, "seed \(seed)")
    }

    @Test("Truncated JSON is an error that shows its beginning")
    func truncated() throws {
        for end in 1..<text.utf8.count {
            let heard = try hear(data: [String(decoding: text.utf8.prefix(end), as: UTF8.self)])
            try #require(heard.reading.failure == "model.malformed", "cut at \(end)")
        }
        let after = try hear(data: [text, String(text.dropLast())])
        #expect(after.reading == Reading(model: "m", text: "ok", failure: "model.malformed"))
    }

    @Test("Bytes that are not UTF-8 are replaced")
    func badUTF8() throws {
        var bytes = Array("data: \(text)\n\n".utf8)
        let place = try #require(bytes.firstIndex(of: UInt8(ascii: "k")))
        bytes[place] = 0xFF
        #expect(try hear([bytes + Array("data: [DONE]\n\n".utf8)], .compatible).reading.text == "o\u{FFFD}")
    }

    @Test("Deep nesting is refused", arguments: ["[", #"{"a":"#])
    func deep(_ opening: String) throws {
        let nest = String(repeating: opening, count: 10_000)
        #expect(try hear(data: [nest]).reading.failure == "model.too-large")
        let inside = #"{"choices":[{"index":0,"delta":{"content":\#(nest)"#
        #expect(try hear(data: [text, inside]).reading.failure == "model.too-large")
        var events: [ChatEvent] = []
        #expect(throws: DialectError.self) {
            try OpenAIDialect(.compatible).answer(in: Array(nest.utf8), into: &events)
        }
    }

    @Test("Endless text is refused at its limit")
    func endlessText() throws {
        var reader = OpenAIDialect(.compatible).reader()
        let piece = String(repeating: "x", count: 1 << 20)
        let data = Array(#"{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"\#(piece)"}}]}"#.utf8)
        var events: [ChatEvent] = []
        var count = 0
        let error = #expect(throws: DialectError.self) {
            while count < 1000 {
                try reader.receive("", data, into: &events)
                events = []
                count += 1
            }
        }
        #expect(error?.kind == .tooLarge)
        #expect(count == 15)
        #expect(reader.partial.message.text.utf8.count == 15 << 20)
    }

    @Test("Endless calls, inputs and reasoning are refused too")
    func endlessCalls() throws {
        func failure(_ repeats: Int, _ delta: (Int) -> String) -> DialectError.Kind? {
            var reader = OpenAIDialect(.openRouter).reader()
            var events: [ChatEvent] = []
            do {
                for number in 0..<repeats {
                    let data = #"{"id":"c","model":"m","choices":[{"index":0,"delta":\#(delta(number))}]}"#
                    try reader.receive("", Array(data.utf8), into: &events)
                }
                return nil
            } catch {
                return error.kind
            }
        }
        let calls: (Int) -> String = {
            #"{"tool_calls":[{"index":\#($0),"id":"c\#($0)","function":{"name":"a","arguments":"{}"}}]}"#
        }
        #expect(failure(1000, calls) == nil)
        #expect(failure(1001, calls) == .tooLarge)
        let piece = String(repeating: "x", count: 1 << 20)
        let input: (Int) -> String = { _ in
            #"{"tool_calls":[{"index":0,"id":"a","function":{"name":"a","arguments":"\#(piece)"}}]}"#
        }
        // The names count too, so sixteen pieces are slightly too much.
        #expect(failure(15, input) == nil)
        #expect(failure(16, input) == .tooLarge)
        let thoughts: (Int) -> String = { _ in
            #"{"reasoning_details":[{"type":"reasoning.encrypted","data":"\#(piece)","index":0}]}"#
        }
        #expect(failure(65, thoughts) == .tooLarge)
    }

    @Test("A line of 100 MB is refused without using more memory")
    func hugeLine() async {
        // In a separate process, whose memory no other test uses.
        await #expect(processExitsWith: .success) {
            var reader = OpenAIDialect(.compatible).reader()
            var events: [ChatEvent] = []
            var line = Array(#"{"choices":["#.utf8)
            line.reserveCapacity(100_000_000)
            let piece = Array("[],".utf8)
            while line.count + piece.count < 100_000_000 { line += piece }
            let before = peakKilobytes()
            let error = #expect(throws: DialectError.self) { try reader.receive("", line, into: &events) }
            #expect(error?.kind == .tooLarge)
            let begun = #"{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"a"}}]}"#
            var later = OpenAIDialect(.compatible).reader()
            try later.receive("", Array(begun.utf8), into: &events)
            #expect(throws: DialectError.self) { try later.receive("", line, into: &events) }
            #expect(peakKilobytes() - before < 4096)
        }
    }

    @Test("Nothing is read after the end")
    func afterTheEnd() throws {
        var reader = OpenAIDialect(.compatible).reader()
        var events: [ChatEvent] = []
        for data in [text, "[DONE]", text, "garbage"] { try reader.receive("", Array(data.utf8), into: &events) }
        #expect(reader.isComplete)
        #expect(try reader.finish(into: &events).message.text == "ok")
    }
}

/// The peak memory of this process.
private func peakKilobytes() -> Int {
    var usage = rusage()
    return unsafe getrusage(RUSAGE_SELF.rawValue, &usage) == 0 ? usage.ru_maxrss : 0
}
