public import Capabilities

/// What all answers of a kind took together.
public struct UsageTotal: Record, Hashable {
    /// A conversation's id, a provider, a model, or a day.
    public let key: String
    /// A conversation's title.
    public let title: String?
    public let answers: Int
    public let usage: Usage

    /// By what answers are counted together.
    public enum Grouping: String, Choice, Hashable { case conversation, provider, model, day }

    public static let fields: [Field<UsageTotal>] = [
        Field("group", "Which answers", .name) { $0.key },
        Field("title", "What the conversation is about") { $0.title },
        Field("answers", "How many there were") { $0.answers },
        Field("input_tokens", "Tokens read by the model") { $0.usage.inputTokens },
        Field("output_tokens", "Tokens written by the model") { $0.usage.outputTokens },
        Field("cached_tokens", "Tokens read that came from the provider's cache") { $0.usage.cachedTokens },
        Field("cache_write_tokens", "Tokens read that went into the cache") { $0.usage.cacheWriteTokens },
        Field("reasoning_tokens", "Tokens written that were thoughts") { $0.usage.reasoningTokens },
        Field("cost_usd", "What it cost in US dollars, as far as that is known") { $0.usage.cost },
    ]
}
