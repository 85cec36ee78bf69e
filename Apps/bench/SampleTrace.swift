import Capabilities
import JSON

/// Spans such as a gateway with tools records, the same ones for the same numbers.
enum SampleTrace {
    /// How many kinds of work there are.
    static let kinds = 30

    private static let tools = (1...20).map { "execute_tool tool\($0)" }
    private static let models = (1...5).map { "chat model\($0)" }
    private static let others = ["POST", "GET", "gateway.turn", "run.step", "sqlite"]

    /// A span with three to six facts.
    ///
    /// - Parameters:
    ///   - number: decides what was done, how long that took and how it ended.
    ///   - trace: of another trace for each number.
    ///   - parent: the number of the span around it.
    static func span(_ number: Int, trace: Int, parent: Int?, start: Timestamp) throws -> TraceSpan {
        let kind = number % kinds
        let context = TraceContext(trace: try traceID(trace), span: try spanID(number))
        let duration = Duration.nanoseconds(1_000 * (1 + mixed(number) % 1_000_000))
        var span = TraceSpan(
            name: name(kind), feature: kind < tools.count ? "mcp" : kind < 25 ? "chat" : "gateway", context: context,
            parent: try parent.map(spanID), start: start, duration: duration, attributes: facts(kind, number),
            failure: number % 50 == 49 ? "http.timeout" : nil)
        span.kind = kind < 20 ? .internal : .client
        if number % 10 == 9 {
            span.events = [TraceSpan.Event(name: "retry", time: start + .milliseconds(1), attributes: ["attempt": 1])]
        }
        return span
    }

    /// The same without facts, to be counted.
    static func bareSpan(_ number: Int, start: Timestamp) throws -> TraceSpan {
        let kind = number % kinds
        return TraceSpan(
            name: name(kind), feature: kind < tools.count ? "mcp" : kind < 25 ? "chat" : "gateway",
            context: TraceContext(trace: try traceID(1), span: try spanID(1)), parent: nil, start: start,
            duration: .nanoseconds(1_000 * (1 + mixed(number) % 1_000_000)))
    }

    /// The id of a trace. The ids of neighbours are far apart, as random ones are.
    static func traceID(_ number: Int) throws -> TraceID {
        guard let id = TraceID(words: (UInt64(mixed(number)), UInt64(number))) else {
            throw BenchmarkError("a trace has the number 0")
        }
        return id
    }

    private static func spanID(_ number: Int) throws -> SpanID {
        // The multiplication has an inverse, so that each number has another id.
        guard let id = SpanID(word: UInt64(number + 1) &* 0x9E37_79B9_7F4A_7C15) else {
            throw BenchmarkError("a span has the number -1")
        }
        return id
    }

    private static func mixed(_ number: Int) -> Int {
        var word = UInt64(truncatingIfNeeded: number) &* 0xBF58_476D_1CE4_E5B9
        word ^= word >> 31
        word &*= 0x94D0_49BB_1331_11EB
        return Int(word >> 2)
    }

    private static func name(_ kind: Int) -> String {
        switch kind {
        case ..<20: tools[kind]
        case ..<25: models[kind - 20]
        default: others[kind - 25]
        }
    }

    private static func facts(_ kind: Int, _ number: Int) -> JSONObject {
        switch kind {
        case ..<20:
            [
                "gen_ai.tool.name": .string("tool\(kind + 1)"), "martlet.tool.source": "server",
                "martlet.decision": "rule",
            ]
        case ..<25:
            [
                "gen_ai.provider.name": "openai", "gen_ai.request.model": .string("model\(kind - 19)"),
                "gen_ai.usage.input_tokens": .int(number % 5_000), "gen_ai.usage.output_tokens": .int(number % 700),
                "gen_ai.response.time_to_first_chunk": 0.35, "martlet.cost_usd": 0.00125,
            ]
        default:
            [
                "http.request.method": "POST", "server.address": "api.example.com", "server.port": 443,
                "http.response.status_code": 200,
            ]
        }
    }
}
