public import Capabilities
import JSON

/// What the models of spans used.
public struct SpanUsage: Sendable, Hashable {
    /// Tokens that models read.
    public var input = 0
    /// Tokens that models wrote.
    public var output = 0
    /// What it cost, in units of 10⁻⁹ US dollars.
    public var nanodollars = 0

    /// Nothing.
    public init() {}

    /// What a span says it used. Others may say anything, so that absurd numbers count as none.
    public init(_ span: TraceSpan) {
        input = Self.number(span, "gen_ai.usage.input_tokens")
        output = Self.number(span, "gen_ai.usage.output_tokens")
        let dollars = span.attributes["martlet.cost_usd"]?.double ?? 0
        if dollars > 0, dollars < 1e6 { nanodollars = Int((dollars * 1e9).rounded()) }
    }

    private static func number(_ span: TraceSpan, _ name: String) -> Int {
        let number = span.attributes[name]?.int ?? 0
        return (0..<1 << 40).contains(number) ? number : 0
    }

    /// The tokens of both directions.
    public var tokens: Int { input.saturatingAdd(output) }

    /// Whether there is none.
    public var isEmpty: Bool { self == SpanUsage() }

    /// Adds that of others.
    public mutating func add(_ other: SpanUsage) {
        input = input.saturatingAdd(other.input)
        output = output.saturatingAdd(other.output)
        nanodollars = nanodollars.saturatingAdd(other.nanodollars)
    }
}
