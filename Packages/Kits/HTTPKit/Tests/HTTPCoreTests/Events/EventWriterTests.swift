import CoreTesting
import HTTPCore
import Testing

@Suite("Event writer")
struct EventWriterTests {
    @Test("An event is written in as few lines as possible")
    func plain() throws {
        var writer = EventWriter()
        try writer.event("a")
        try writer.event("b", type: "note", id: "7")
        try writer.event("", id: "")
        writer.comment()
        writer.retry(.milliseconds(1500))
        let text =
            "data: a\n\nid: 7\nevent: note\ndata: b\n\nid: \ndata: \n\n: \n\nretry: 1500\n\n"
        #expect(String(decoding: writer.take(), as: UTF8.self) == text)
        #expect(writer.bytes.isEmpty)
    }

    @Test("Data with any line end is written as several lines and cannot start another field")
    func injection() throws {
        var writer = EventWriter()
        for data in ["a\nb", "a\rb", "a\r\nb", "\n", "\r\n\r\n", "a\n\nevent: evil\ndata: x\n\n", " a", ":a", "id: 3"] {
            try writer.event(data)
            writer.comment(data)
            var parser = EventParser()
            let lines = data.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r" || $0 == "\r\n" }
            let events = try parser.read(writer.take())
            #expect(events == [.init(text: lines.joined(separator: "\n"))], "\(data.debugDescription)")
        }
    }

    @Test("A type or an id with a line end or a NUL is refused, and none of it is written")
    func refused() {
        var writer = EventWriter()
        for bad in ["a\nb", "a\rb", "\n", "a\r\n"] {
            #expect { try writer.event("x", type: bad) } throws: { ($0 as? HTTPError)?.kind == .invalid }
            #expect { try writer.event("x", id: bad) } throws: { ($0 as? HTTPError)?.kind == .invalid }
        }
        #expect { try writer.event("x", id: "a\u{0}") } throws: { ($0 as? HTTPError)?.kind == .invalid }
        #expect(writer.bytes.isEmpty)
        #expect(throws: HTTPError.self) { try ServerSentEvent(type: "a\rb", text: "").encoded() }
    }

    @Test("Random events read back as they were written")
    func random() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        func text(_ alphabet: String, _ most: Int) -> String {
            String(
                (0..<Int.random(in: 0...most, using: &random)).compactMap { _ in alphabet.randomElement(using: &random)
                })
        }
        for _ in 0..<2000 {
            let events = (0..<Int.random(in: 1..<5, using: &random)).map { _ in
                ServerSentEvent(
                    type: "t" + text("abc: é", 5), text: text("ab: é😀\n", 20), lastEventID: "i" + text("12: é", 5))
            }
            var parser = EventParser()
            #expect(try parser.read(events.flatMap { try $0.encoded() }) == events, "seed \(seed)")
        }
    }
}
