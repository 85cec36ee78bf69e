public import JSON

/// The usage of a model. Values that a server does not report are nil, never zero.
public struct Usage: Record, Hashable {
    /// All tokens that the model read, including those read from or written to a cache.
    public var inputTokens: Int?
    /// All tokens that the model wrote, including its reasoning.
    public var outputTokens: Int?
    /// How many of the input tokens were read from the provider's cache.
    public var cachedTokens: Int?
    /// How many of the input tokens were written to the provider's cache.
    public var cacheWriteTokens: Int?
    /// How many of the output tokens were reasoning.
    public var reasoningTokens: Int?
    /// What it cost; nil if that is unknown.
    public var cost: Cost?

    /// Values that are not given are unknown.
    public init(
        inputTokens: Int? = nil, outputTokens: Int? = nil, cachedTokens: Int? = nil, cacheWriteTokens: Int? = nil,
        reasoningTokens: Int? = nil, cost: Cost? = nil
    ) {
        self.inputTokens = inputTokens
        self.outputTokens = outputTokens
        self.cachedTokens = cachedTokens
        self.cacheWriteTokens = cacheWriteTokens
        self.reasoningTokens = reasoningTokens
        self.cost = cost
    }

    /// The sum. A value stays unknown only if both sides do not know it. What servers invent is not too large for it.
    public static func + (left: Usage, right: Usage) -> Usage {
        func sum(_ left: Int?, _ right: Int?) -> Int? {
            guard let left, let right else { return left ?? right }
            let (sum, isOver) = left.addingReportingOverflow(right)
            return isOver ? (left < 0 ? .min : .max) : sum
        }
        return Usage(
            inputTokens: sum(left.inputTokens, right.inputTokens),
            outputTokens: sum(left.outputTokens, right.outputTokens),
            cachedTokens: sum(left.cachedTokens, right.cachedTokens),
            cacheWriteTokens: sum(left.cacheWriteTokens, right.cacheWriteTokens),
            reasoningTokens: sum(left.reasoningTokens, right.reasoningTokens),
            cost: sum(left.cost?.nanodollars, right.cost?.nanodollars).map(Cost.init(nanodollars:)))
    }

    public static let fields: [Field<Usage>] = [
        Field("input_tokens", "Tokens read by the model") { $0.inputTokens },
        Field("output_tokens", "Tokens written by the model") { $0.outputTokens },
        Field("cached_tokens", "Tokens read that came from the provider's cache", .detail) { $0.cachedTokens },
        Field("cache_write_tokens", "Tokens read that went into the cache", .detail) { $0.cacheWriteTokens },
        Field("reasoning_tokens", "Tokens written that were reasoning", .detail) { $0.reasoningTokens },
        Field("cost_usd", "What it cost in US dollars") { $0.cost },
    ]
}

/// An amount of money in nanodollars, because sums of tiny prices must be exact.
public struct Cost: OutputValue, Hashable {
    /// The amount in units of 10⁻⁹ US dollars.
    public var nanodollars: Int

    /// Takes the exact amount.
    public init(nanodollars: Int) {
        self.nanodollars = nanodollars
    }

    public static var schema: Schema { .number(nil) }
    public var json: JSON { .double(Double(nanodollars) / 1e9) }

    /// `$12.50`, `$0.25`, `$0.0041`: with cents, and with more digits below a dollar if needed.
    public var words: String {
        guard nanodollars > 0 else { return "$0.00" }
        guard nanodollars >= 100_000 else { return "under $0.0001" }
        let digits = nanodollars >= 1_000_000_000 ? 2 : 4
        let unit = digits == 2 ? 10_000_000 : 100_000
        let (whole, part) = (nanodollars / 1_000_000_000, nanodollars % 1_000_000_000 / unit)
        var fraction = String(part)
        fraction = String(repeating: "0", count: digits - fraction.count) + fraction
        while fraction.count > 2, fraction.hasSuffix("0") { fraction.removeLast() }
        return "$\(whole).\(fraction)"
    }
}
