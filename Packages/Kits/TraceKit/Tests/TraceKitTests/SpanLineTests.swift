import Capabilities
import JSON
import Testing
import TraceKit

@Suite("a span as a line")
struct SpanLineTests {
    @Test("is read again as the same span", arguments: 1...4 as ClosedRange<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var samples = SampleSpans(seed: seed)
        for span in samples.spans(200) {
            var line: [UInt8] = []
            SpanLine.write(span, into: &line)
            #expect(line.last == 10 && line.count { $0 == 10 } == 1)
            #expect(try SpanLine.read(line).facts == span.facts)
            // As a slice of what is not contiguous.
            #expect(try SpanLine.read(line.lazy.map { $0 }).facts == span.facts)
        }
    }

    @Test("fits the documented schema")
    func schema() throws {
        var samples = SampleSpans(seed: 7)
        guard case .record(let properties) = SpanLine.schema else { throw TestFault.zero }
        let (known, needed) = (
            Set(properties.map(\.name)), properties.filter { $0.schema == $0.schema.unwrapped }.map(\.name)
        )
        var seen: Set<String> = []
        for span in samples.spans(100) {
            var line: [UInt8] = []
            SpanLine.write(span, into: &line)
            let object = try #require(JSON(parsing: line).object)
            seen.formUnion(object.keys)
            #expect(needed.allSatisfy { object[$0] != nil })
        }
        #expect(seen == known)
    }

    @Test("has texts for numbers that JSON does not have")
    func numbers() throws {
        var line: [UInt8] = []
        SpanLine.write(
            try .plain(attributes: ["a": .double(.nan), "b": .double(-.infinity), "c": .double(.infinity)]), into: &line
        )
        #expect(try SpanLine.read(line).attributes == ["a": "NaN", "b": "-Infinity", "c": "Infinity"])
    }

    @Test("that was cut anywhere is refused")
    func cut() throws {
        var samples = SampleSpans(seed: 9)
        var line: [UInt8] = []
        SpanLine.write(samples.span(), into: &line)
        for end in 0..<line.count - 1 {
            #expect(throws: TraceKitError.self) { try SpanLine.read(line[..<end]) }
        }
    }

    @Test(
        "that is none is refused",
        arguments: [
            "", "null", "[]", "{}", "\u{0}", #"{"trace_id":1}"#,
            #"{"trace_id":"00000000000000000000000000000000","span_id":"0000000000000001","name":"","scope":"","start_us":0,"duration_ns":0}"#,
            #"{"trace_id":"0000000000000000000000000000000g","span_id":"0000000000000001","name":"","scope":"","start_us":0,"duration_ns":0}"#,
            #"{"trace_id":"00000000000000000000000000000001","span_id":"001","name":"","scope":"","start_us":0,"duration_ns":0}"#,
        ])
    func refused(text: String) {
        #expect(throws: TraceKitError.self) { try SpanLine.read(text.utf8) }
    }

    @Test("may have members that are not known")
    func unknown() throws {
        let text = #"""
            {"later":[{"x":1}],"trace_id":"000000000000000000000000000000AB","span_id":"0000000000000001","name":"n","scope":"s","start_us":5,"duration_ns":6,"events":null}
            """#
        let span = try SpanLine.read(text.utf8)
        #expect(span.name == "n" && span.context.trace.words == (0, 0xAB) && span.duration == .nanoseconds(6))
    }
}
