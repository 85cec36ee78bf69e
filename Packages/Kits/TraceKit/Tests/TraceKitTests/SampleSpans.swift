import Capabilities
import CoreTesting
import JSON

/// Spans with everything that a span may have, different ones for each seed.
struct SampleSpans {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func spans(_ count: Int) -> [TraceSpan] { (0..<count).map { _ in span() } }

    mutating func span() -> TraceSpan {
        var span = TraceSpan(
            name: text(), feature: pick(["gateway", "chat", "mcp", "runner", ""]), context: context(),
            parent: chance(3) ? nil : SpanID(using: &generator),
            start: Timestamp(microseconds: Int64.random(in: 0...4_000_000_000_000_000, using: &generator)),
            duration: .nanoseconds(Int64.random(in: 0...90_000_000_000, using: &generator)),
            attributes: attributes(), failure: chance(4) ? pick(["http.timeout", "chat.refused", "é"]) : nil)
        span.kind = pick([.internal, .server, .client, .producer, .consumer])
        span.isParentRemote = span.parent != nil && chance(2)
        span.events = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            TraceSpan.Event(
                name: text(), time: span.start + .microseconds(Int64.random(in: 0...9_999, using: &generator)),
                attributes: attributes())
        }
        if chance(4) { span.links = [TraceSpan.Link(to: context(), attributes: attributes())] }
        if chance(4) { span.dropped = Int.random(in: 1...100_000, using: &generator) }
        return span
    }

    private mutating func context() -> TraceContext {
        TraceContext(
            trace: TraceID(using: &generator), span: SpanID(using: &generator), isSampled: !chance(3),
            state: chance(3) ? "vendor=1,other=x" : nil)
    }

    private mutating func attributes() -> JSONObject {
        var object: JSONObject = [:]
        for _ in 0..<Int.random(in: 0...4, using: &generator) { object[text()] = value(depth: 0) }
        return object
    }

    private mutating func value(depth: Int) -> JSON {
        switch Int.random(in: 0..<(depth < 3 ? 8 : 6), using: &generator) {
        case 0: .string(text())
        case 1: .int(pick([0, 1, -1, .max, .min, 300]))
        case 2: .double(pick([0.0, -0.5, 1e300, 1e-7, 3]))
        case 3: .bool(chance(2))
        case 4: .string("")
        case 5: .null
        case 6: .array((0..<Int.random(in: 0...3, using: &generator)).map { _ in value(depth: depth + 1) })
        default: .object([text(): value(depth: depth + 1), "k": value(depth: depth + 1)])
        }
    }

    private mutating func text() -> String {
        pick([
            "a", "http.request.method", "", "Größe", "日本語", "\u{1F600}", "a\"b\\c\n\t", "</script>", "\u{2028}", "=1+1",
        ])
    }

    private mutating func chance(_ sides: Int) -> Bool { Int.random(in: 0..<sides, using: &generator) == 0 }

    private mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: 0..<values.count, using: &generator)]
    }
}

extension TraceSpan {
    /// All that a span says, to be compared.
    var facts: String { String(reflecting: self) }

    /// A span with what each has, and nothing else.
    static func plain(
        _ name: String = "work", trace: UInt64 = 1, span: UInt64 = 2, parent: UInt64? = nil, start: Int64 = 1_000,
        microseconds: Int64 = 10, attributes: JSONObject = [:], failure: String? = nil
    ) throws -> TraceSpan {
        let ids = (TraceID(words: (0, trace)), SpanID(word: span))
        guard case (let trace?, let span?) = ids else { throw TestFault.zero }
        return TraceSpan(
            name: name, feature: "test", context: TraceContext(trace: trace, span: span),
            parent: parent.flatMap(SpanID.init(word:)), start: Timestamp(microseconds: start),
            duration: .microseconds(microseconds), attributes: attributes, failure: failure)
    }
}

enum TestFault: Error { case zero }
