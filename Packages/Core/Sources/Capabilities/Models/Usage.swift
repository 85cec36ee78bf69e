public import JSON

/// What a model's work took. What a server does not report is nil, never zero.
public struct Usage: Record, Hashable {
    public var inputTokens: Int?
    public var outputTokens: Int?
    public var cost: Cost?

    public init(inputTokens: Int? = nil, outputTokens: Int? = nil, cost: Cost? = nil) {
        self.inputTokens = inputTokens
        self.outputTokens = outputTokens
        self.cost = cost
    }

    /// The sum, in which the unknown stays unknown only when both sides do not know.
    public static func + (left: Usage, right: Usage) -> Usage {
        func sum(_ left: Int?, _ right: Int?) -> Int? {
            left == nil && right == nil ? nil : (left ?? 0) + (right ?? 0)
        }
        return Usage(
            inputTokens: sum(left.inputTokens, right.inputTokens),
            outputTokens: sum(left.outputTokens, right.outputTokens),
            cost: sum(left.cost?.nanodollars, right.cost?.nanodollars).map(Cost.init(nanodollars:)))
    }

    public static let fields: [Field<Usage>] = [
        Field("input_tokens", "Tokens read by the model") { $0.inputTokens },
        Field("output_tokens", "Tokens written by the model") { $0.outputTokens },
        Field("cost_usd", "What it cost in US dollars") { $0.cost },
    ]
}

/// An amount of money in whole billionths of a US dollar, because sums of tiny prices must be exact.
public struct Cost: OutputValue, Hashable {
    public var nanodollars: Int

    public init(nanodollars: Int) {
        self.nanodollars = nanodollars
    }

    public static var schema: Schema { .number(nil) }
    public var json: JSON { .double(Double(nanodollars) / 1e9) }
}
