import CoreTesting
import HTTPCore
import Testing

@Suite("Event parser")
struct EventParserTests {
    /// A stream and the data of its events.
    struct Row: Sendable, CustomTestStringConvertible {
        let stream: String
        let data: [String]
        var testDescription: String { stream.debugDescription }

        init(_ stream: String, _ data: [String]) {
            self.stream = stream
            self.data = data
        }
    }

    static let rows: [Row] = [
        Row("data\n\n", [""]),
        Row("data:\n\n", [""]),
        Row("data\ndata\n\n", ["\n"]),
        Row("data: a\ndata: b\n\n", ["a\nb"]),
        Row("data:  x\n\n", [" x"]),
        Row("data:\tx\n\n", ["\tx"]),
        Row("data: x\n\n", ["x"]),
        Row("data:x\n\n", ["x"]),
        Row(" data: x\n\n", []),
        Row("Data: x\n\n", []),
        Row("DATA: x\n\n", []),
        Row("data : x\n\n", []),
        Row("datax: x\n\n", []),
        Row("dat: x\n\n", []),
        Row("event: x\n\n", []),
        Row("id: 7\n\n", []),
        Row("data: x", []),
        Row("data: x\n", []),
        Row("data: x\r", []),
        Row("data: x\r\n", []),
        Row("data: a\r\rdata: b\r\r", ["a", "b"]),
        Row("data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]),
        Row("data: a\n\r\ndata: b\r\n\rdata: c\r\n\n", ["a", "b", "c"]),
        Row("data: a\r\ndata: b\ndata: c\rdata: d\n\n", ["a\nb\nc\nd"]),
        Row("\n\n\r\r\r\n\r\ndata: a\n\n\n\n", ["a"]),
        Row("data: a\u{0}b\n\n", ["a\u{0}b"]),
        Row("\u{0}data: a\n\n", []),
        Row("data\u{0}: a\n\n", []),
        Row(":\n\ndata: a\n\n", ["a"]),
        Row(": comment\ndata: a\n:data: b\ndata: c\n: end\n\n", ["a\nc"]),
        Row(":\r\n: x\r\ndata: a\r\n\r\n", ["a"]),
        Row("data: a:b: c\n\n", ["a:b: c"]),
        Row("data::\n\n", [":"]),
        Row("data: 日本 é 😀\n\n", ["日本 é 😀"]),
        Row("nothing\nfoo: bar\n\ndata: a\n\n", ["a"]),
        Row("data: [DONE]\n\n", ["[DONE]"]),
        Row("data: {\"a\":\n\n{\"b\": 1}\n\n", ["{\"a\":"]),
        Row("\u{FEFF}data: a\n\n", ["a"]),
        Row("\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", ["b"]),
        Row("data: a\n\n\u{FEFF}data: b\n\ndata: c\n\n", ["a", "c"]),
        Row("data: \u{FEFF}a\n\n", ["\u{FEFF}a"]),
        Row("\u{FEFF}", []),
        Row("", []),
        Row("error: {\"message\":\"no\"}\n\n", []),
    ]

    @Test("Each line, field and line end is read as the standard says, wherever the stream is cut", arguments: rows)
    func fields(_ row: Row) throws {
        let stream = Array(row.stream.utf8)
        for cut in 0...stream.count {
            var parser = EventParser()
            var events = try parser.read(Array(stream[..<cut]))
            events += try parser.read(Array(stream[cut...]))
            #expect(events.map(\.text) == row.data, "cut at \(cut)")
        }
        var parser = EventParser()
        #expect(try stream.flatMap { try parser.read([$0]) }.map(\.text) == row.data, "byte by byte")
    }

    @Test("A stream that uses every rule reads the same at every pair of cuts")
    func pairs() throws {
        let stream = Array(
            "\u{FEFF}: hi\r\nid: 1\r\nevent: a\rdata: x\ndata: é\r\n\r\nretry: 20\n\ndata\n\nid\ndata: 😀\r\revent: b\n\ndata: y\n\n"
                .utf8)
        let expected = ReferenceReader.events(stream).events
        #expect(expected.count == 4)
        for first in 0...stream.count {
            for second in first...stream.count {
                var parser = EventParser()
                var events = try parser.read(Array(stream[..<first]))
                // Half of the streams are fed without a read in between.
                if first.isMultiple(of: 2) {
                    parser.feed(Array(stream[first..<second]))
                } else {
                    events += try parser.read(Array(stream[first..<second]))
                }
                events += try parser.read(Array(stream[second...]))
                #expect(events == expected, "cut at \(first) and \(second)")
            }
        }
    }

    @Test("An event ends with its CR and does not wait for the byte after it")
    func promptReturn() throws {
        var parser = EventParser()
        #expect(try parser.read(Array("data: a\r\n\r".utf8)).map(\.text) == ["a"])
        #expect(try parser.read(Array("\ndata: b\r\r".utf8)).map(\.text) == ["b"])
        #expect(try parser.read(Array("\n\n".utf8)).isEmpty)
    }

    @Test("The last type of an event counts and does not apply to the next event")
    func types() throws {
        var parser = EventParser()
        let stream =
            "event: a\nevent: b\ndata: 1\n\ndata: 2\n\nevent: c\n\ndata: 3\n\nevent: d\nevent\ndata: 4\n\nevent:é x\ndata: 5\n\n"
            + "event: d\ndata: 6\n\nEvent: e\ndata: 7\n\n"
        #expect(
            try parser.read(Array(stream.utf8)).map(\.type) == [
                "b", "message", "message", "message", "é x", "d", "message",
            ])
    }

    @Test("An id stays until another one, changes only at an empty line, and is ignored if it contains a NUL")
    func ids() throws {
        var parser = EventParser()
        #expect(try parser.read(Array("id: 7\n".utf8)).isEmpty)
        #expect(parser.lastEventID == "")
        #expect(try parser.read(Array("\n".utf8)).isEmpty)
        #expect(parser.lastEventID == "7")
        let stream =
            "data: a\n\nid: x\u{0}y\ndata: b\n\nid:  8\ndata: c\n\nid\ndata: d\n\nid: 9\ndata: e\n\ndata: f\n\nid: lost\n"
        #expect(try parser.read(Array(stream.utf8)).map(\.lastEventID) == ["7", "7", " 8", "", "9", "9"])
        #expect(parser.lastEventID == "9")
        var next = EventParser(lastEventID: "9")
        #expect(try next.read(Array("data: a\n\n".utf8)).map(\.lastEventID) == ["9"])
    }

    @Test(
        "Only a number of ASCII digits is a retry time",
        arguments: [
            ("retry: 100", 100), ("retry:5", 5), ("retry: 007", 7), ("retry: 10x", nil), ("retry:", nil),
            ("retry", nil),
            ("retry: -1", nil), ("retry: +1", nil), ("retry: 1 ", nil), ("retry:  1", nil), ("retry: 1.5", nil),
            ("retry: 0", 0), ("retry: ٣", nil), ("retry: 99999999999999999999", Int64.max),
        ] as [(String, Int64?)])
    func retry(_ line: String, _ milliseconds: Int64?) throws {
        var parser = EventParser()
        _ = try parser.read(Array("\(line)\n".utf8))
        #expect(parser.retry == milliseconds.map { .milliseconds($0) })
        _ = try parser.read(Array("retry: none\n\n".utf8))
        #expect(parser.retry == milliseconds.map { .milliseconds($0) })
    }

    @Test("Invalid UTF-8 is repaired in text and kept in data")
    func repaired() throws {
        var parser = EventParser()
        let events = try parser.read(Array("data: ".utf8) + [0xFF, 0x61, 0xE2, 0x82] + Array("\ndata: b\n\n".utf8))
        #expect(events.map(\.text) == ["\u{FFFD}a\u{FFFD}\nb"])
        #expect(events.first.map { Array($0.data) } == [0xFF, 0x61, 0xE2, 0x82, 10, 0x62])
        #expect(
            try parser.read(Array("event: ".utf8) + [0xC3, 10] + Array("data\n\n".utf8)).map(\.type) == ["\u{FFFD}"])
    }

    @Test("The error field of old servers is read as an event if that is enabled")
    func errorField() throws {
        var parser = EventParser(readsErrorField: true)
        let events = try parser.read(Array("error: {\"code\":500}\n\ndata: a\n\nerrors: b\n\n".utf8))
        #expect(events == [.init(type: "error", text: "{\"code\":500}"), .init(text: "a")])
    }

    @Test("Random streams cut at random places read as the reference reads them")
    func random() throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let pieces: [[UInt8]] =
            [
                "data", "data:", "data: ", "event", "event: ", "id", "id: ", "retry: ", "retry:12", ":", " ", "\n",
                "\n",
                "\n\n", "\r", "\r", "\r\n", "\r\n\r\n", "\u{0}", "x", "é", "😀", "\u{FEFF}", "data: some words\n\n",
            ].map { Array($0.utf8) } + [[0xEF], [0xBB], [0xFF], [0xE2, 0x82]]
        var count = 0
        for _ in 0..<4000 {
            var stream: [UInt8] = []
            for _ in 0..<Int.random(in: 1..<40, using: &random) {
                stream += pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }
            let expected = ReferenceReader.events(stream)
            var parser = EventParser()
            var events: [ServerSentEvent] = []
            var rest = stream[...]
            while !rest.isEmpty {
                let part = rest.prefix(Int.random(in: 1..<12, using: &random))
                events += try parser.read(Array(part))
                rest = rest.dropFirst(part.count)
            }
            try #require(events == expected.events, "seed \(seed), stream \(stream)")
            try #require(parser.lastEventID == expected.lastEventID, "seed \(seed), stream \(stream)")
            try #require(parser.retry == expected.retry, "seed \(seed), stream \(stream)")
            count += events.count
        }
        #expect(count > 1000)
    }
}
