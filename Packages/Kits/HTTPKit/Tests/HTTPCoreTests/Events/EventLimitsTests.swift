import HTTPCore
import Testing

@Suite("Event limits")
struct EventLimitsTests {
    private static let limits = EventLimits(line: 20, event: 30, name: 5)

    @Test(
        "A line or field beyond its limit is an error that names the limit, in one piece or byte by byte",
        arguments: [
            ("data: 0123456789012345\n", "a line", 20),
            ("data: 01234567890123", "", 0),
            ("unknown: 0123456789012345", "a line", 20),
            ("data: 012345678901\ndata: 012345678901\ndata: 01234\n\n", "the data", 30),
            ("data: 012345678901\ndata: 012345678901\ndata: 0123\n\n", "", 0),
            ("data\ndata\n" + String(repeating: "data\n", count: 28) + "\n", "", 0),
            ("data\ndata\n" + String(repeating: "data\n", count: 30) + "\n", "the data", 30),
            ("id: 123456\n", "the id", 5), ("id: 12345\n", "", 0), ("id: 12345\u{0}78\n", "", 0),
            ("event: 123456\n", "the type", 5), ("event: 12345\n", "", 0),
            (": " + String(repeating: "comment ", count: 1000), "", 0),
        ] as [(String, String, Int)])
    func limits(_ stream: String, _ name: String, _ limit: Int) throws {
        let bytes = Array(stream.utf8)
        for size in [bytes.count, 1, 7] {
            var parser = EventParser(limits: Self.limits)
            var failure: HTTPError?
            var start = 0
            while start < bytes.count, failure == nil {
                do {
                    _ = try parser.read(Array(bytes[start..<min(start + size, bytes.count)]))
                } catch {
                    failure = error
                }
                start += size
            }
            guard limit > 0 else {
                #expect(failure == nil, "pieces of \(size)")
                continue
            }
            let error = try #require(failure, "pieces of \(size)")
            #expect(error.kind == .tooLarge)
            #expect(error.message.contains("\(name) ") && error.message.contains("limit of \(limit) bytes"))
        }
    }

    @Test("Events before an event that is too large are delivered, and nothing after it")
    func before() throws {
        var parser = EventParser(limits: Self.limits)
        let stream = Array("data: a\n\ndata: b\n\nid: 123456\n\ndata: c\n\n".utf8)
        parser.feed(stream)
        var rest = parser
        #expect(try parser.next()?.text == "a")
        #expect(try parser.next()?.text == "b")
        for _ in 0..<2 { #expect(throws: HTTPError.self) { try parser.next() } }
        parser.feed(Array("data: d\n\n".utf8))
        #expect(throws: HTTPError.self) { try parser.next() }
        var events: [ServerSentEvent] = []
        rest.readRest(into: &events)
        #expect(events.map(\.text) == ["a", "b"])
        #expect(throws: HTTPError.self) { try rest.next() }
    }

    @Test("An event of many megabytes in small pieces is read completely")
    func large() throws {
        let text = [UInt8](repeating: UInt8(ascii: "x"), count: 10 << 20)
        let stream = Array("data: ".utf8) + text + Array("\n\n".utf8)
        var parser = EventParser()
        var events: [ServerSentEvent] = []
        var start = 0
        while start < stream.count {
            let end = min(start + 1000, stream.count)
            events += try parser.read(Array(stream[start..<end]))
            start = end
        }
        #expect(events.count == 1)
        #expect(events.first.map { Array($0.data) } == text)
    }
}
