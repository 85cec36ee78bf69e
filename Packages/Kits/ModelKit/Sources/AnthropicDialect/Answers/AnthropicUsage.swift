import Capabilities
import JSON
import ModelKit

/// What an answer took so far. Reports are cumulative, and what one of them leaves out stays as it was.
struct AnthropicUsage: Sendable {
    private var input: Int?
    private var output: Int?
    private var cacheRead: Int?
    private var cacheWrite: Int?
    private var thinking: Int?
    private var cost: Double?

    mutating func take(_ object: JSONObject) {
        input = object["input_tokens"].tokens ?? input
        output = object["output_tokens"].tokens ?? output
        cacheRead = object["cache_read_input_tokens"].tokens ?? cacheRead
        cacheWrite = object["cache_creation_input_tokens"].tokens ?? cacheWrite
        thinking = object["output_tokens_details"]?["thinking_tokens"].tokens ?? thinking
        // Only proxies say what it cost.
        if let dollars = object["cost"]?.double, 0..<1e9 ~= dollars { cost = dollars }
    }

    /// Nil where nothing is known. Anthropic counts what concerns the cache apart from the rest of the input.
    var whole: Usage? {
        let usage = Usage(
            inputTokens: input.map { $0 + (cacheRead ?? 0) + (cacheWrite ?? 0) }, outputTokens: output,
            cachedTokens: cacheRead, cacheWriteTokens: cacheWrite, reasoningTokens: thinking,
            cost: cost.map { Cost(nanodollars: Int(($0 * 1e9).rounded())) })
        return usage == Usage() ? nil : usage
    }
}
