import Capabilities
import CoreTesting
import Testing

/// The rules of https://www.w3.org/TR/trace-context/#traceparent-header.
@Suite("TraceContext")
struct TraceContextTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    @Test(
        "A valid traceparent is read",
        arguments: [
            ("00-\(trace)-\(span)-01", true), ("00-\(trace)-\(span)-00", false), ("00-\(trace)-\(span)-03", true),
            ("00-\(trace)-\(span)-fe", false), ("01-\(trace)-\(span)-01", true), ("fe-\(trace)-\(span)-00", false),
            ("cc-\(trace)-\(span)-01-what-the-future-will-be-like", true), ("cc-\(trace)-\(span)-01-", true),
        ])
    func valid(header: String, isSampled: Bool) throws {
        let context = try #require(TraceContext(traceparent: header))
        #expect(context.trace.description == Self.trace)
        #expect(context.span.description == Self.span)
        #expect(context.isSampled == isSampled)
    }

    @Test(
        "An invalid traceparent is refused",
        arguments: [
            "", "-", "---", "00", "00-\(trace)", "00-\(trace)-\(span)", "ff-\(trace)-\(span)-01",
            "0-\(trace)-\(span)-01",
            "000-\(trace)-\(span)-01", "0x-\(trace)-\(span)-01", "0A-\(trace)-\(span)-01", ".0-\(trace)-\(span)-01",
            "00-\(trace.dropLast())-\(span)-01", "00-\(trace)0-\(span)-01", "00-\(trace)-\(span.dropLast())-01",
            "00-\(trace)-\(span)0-01", "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span.uppercased())-01",
            "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
            "00-\(trace)-\(span)-1", "00-\(trace)-\(span)-001", "00-\(trace)-\(span)-0g", "00-\(trace)-\(span)-+1",
            "00-\(trace)-\(span)-0A", "00-\(trace)-\(span)-", "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-extra",
            "cc-\(trace)-\(span)-01.what-the-future-will-be-like", " 00-\(trace)-\(span)-01", "00-\(trace)-\(span)-01 ",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-\(span)-01", "00-\(trace)-+0f067aa0ba902b7-01",
            "00-4bf92f3577b34da6.3ce929d0e0e4736-\(span)-01", "00_\(trace)_\(span)_01",
        ])
    func invalid(header: String) {
        #expect(TraceContext(traceparent: header) == nil)
    }

    @Test("A traceparent is written as it was read", arguments: ["00-\(trace)-\(span)-01", "00-\(trace)-\(span)-00"])
    func bothWays(header: String) {
        #expect(TraceContext(traceparent: header)?.traceparent == header)
    }

    @Test(
        "What others have added is passed on, if it is neither too long nor something else than text",
        arguments: [
            ("a=1", true), ("", false), (String(repeating: "x", count: 512), true),
            (String(repeating: "x", count: 513), false), ("a=\r\nb: c", false), ("a=é", false),
            (Array(repeating: "a=1", count: 32).joined(separator: ","), true),
            (Array(repeating: "a=1", count: 33).joined(separator: ","), false),
        ])
    func state(text: String, isKept: Bool) {
        let header = "00-\(Self.trace)-\(Self.span)-01"
        #expect(TraceContext(traceparent: header, tracestate: text)?.state == (isKept ? text : nil))
        #expect(TraceContext(traceparent: "00", tracestate: text) == nil)
    }

    @Test("Ids have bytes as protocols send them")
    func bytes() throws {
        let context = try #require(TraceContext(traceparent: "00-\(Self.trace)-\(Self.span)-01"))
        #expect(Hexadecimal.encode(context.trace.bytes) == Self.trace)
        #expect(Hexadecimal.encode(context.span.bytes) == Self.span)
    }

    @Test("A traceparent of new ids can be read", arguments: seeds)
    func newIDs(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let context = TraceContext(
                trace: TraceID(using: &generator), span: SpanID(using: &generator),
                isSampled: .random(using: &generator))
            try #require(TraceContext(traceparent: context.traceparent) == context)
        }
    }

    @Test("Ids have leading zeros, and new ids are never zero")
    func zeros() {
        struct Zeros: RandomNumberGenerator { mutating func next() -> UInt64 { 0 } }
        var generator = Zeros()
        #expect(TraceID(using: &generator).description == "00000000000000000000000000000001")
        #expect(SpanID(using: &generator).description == "0000000000000001")
    }
}
