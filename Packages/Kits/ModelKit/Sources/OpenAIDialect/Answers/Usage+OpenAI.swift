import Capabilities
import JSON
import ModelKit

extension Usage {
    /// What a server reports, under OpenAI's names or those of Anthropic and of gateways; nil where it reports nothing.
    init?(openAI object: JSONObject) {
        let read = object["prompt_tokens_details"] ?? object["input_tokens_details"]
        let written = object["completion_tokens_details"] ?? object["output_tokens_details"]
        let fromCache = object["cache_read_input_tokens"].tokens
        let toCache = object["cache_creation_input_tokens"].tokens
        self.init(
            outputTokens: object["completion_tokens"].tokens ?? object["output_tokens"].tokens,
            cachedTokens: read?["cached_tokens"].tokens ?? fromCache,
            cacheWriteTokens: read?["cache_write_tokens"].tokens ?? toCache,
            reasoningTokens: written?["reasoning_tokens"].tokens)
        if let tokens = object["prompt_tokens"].tokens {
            inputTokens = tokens
        } else if let tokens = object["input_tokens"].tokens {
            // Where Anthropic's names are used, they are used as Anthropic does: without what concerns its cache.
            inputTokens = tokens + (fromCache ?? 0) + (toCache ?? 0)
        }
        cost = Cost(object["cost"])
        // A gateway that does not know what it cost says zero.
        if cost == nil, let total = Cost(object["total_cost"]), total.nanodollars > 0 { cost = total }
        if self == Usage() { return nil }
    }
}

extension Cost {
    init?(_ dollars: JSON?) {
        guard let dollars = dollars?.double, dollars >= 0, dollars < 1e9 else { return nil }
        self.init(nanodollars: Int((dollars * 1e9).rounded()))
    }
}
