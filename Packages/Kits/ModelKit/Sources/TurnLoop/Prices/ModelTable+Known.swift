import Capabilities

extension ModelTable {
    /// The models of the vendors whose own lists lack these facts.
    ///
    /// From the vendors' pages on models and prices. A fact that was not found there is nil, and so is a price that
    /// depends on the length of the request, which one number cannot say.
    public static let known = ModelTable(date: "2026-11-21", models: anthropic + openAI)

    private static let anthropic: [ModelDescription] = [
        claude("claude-fable-5-1", "Claude Fable 5.1", 1_000_000, 128_000, price(10, 50, 0.25, 12.5)),
        claude("claude-fable-5", "Claude Fable 5", 1_000_000, 128_000, price(10, 50, 1, 12.5)),
        claude("claude-opus-5-5", "Claude Opus 5.5", 1_000_000, 128_000, price(4, 20, 0.2, 5)),
        claude("claude-opus-5", "Claude Opus 5", 1_000_000, 128_000, price(5, 25, 0.5, 6.25)),
        claude("claude-opus-4-8", "Claude Opus 4.8", nil, nil, price(5, 25, 0.5, 6.25)),
        claude("claude-opus-4-7", "Claude Opus 4.7", nil, nil, price(5, 25, 0.5, 6.25)),
        claude("claude-opus-4-6", "Claude Opus 4.6", 1_000_000, 128_000, price(5, 25, 0.5, 6.25)),
        claude("claude-opus-4-5", "Claude Opus 4.5", 200_000, 64_000, price(5, 25, 0.5, 6.25)),
        claude("claude-opus-4-1", "Claude Opus 4.1", 200_000, 32_000, price(15, 75, 1.5, 18.75)),
        claude("claude-sonnet-5-5", "Claude Sonnet 5.5", 1_000_000, 128_000, price(2, 10, 0.2, 2.5)),
        claude("claude-sonnet-5", "Claude Sonnet 5", 1_000_000, 128_000, price(2, 10, 0.2, 2.5)),
        claude("claude-sonnet-4-6", "Claude Sonnet 4.6", 1_000_000, 128_000, price(3, 15, 0.3, 3.75)),
        claude("claude-sonnet-4-5", "Claude Sonnet 4.5", 200_000, 64_000, price(3, 15, 0.3, 3.75)),
        claude("claude-haiku-5-5", "Claude Haiku 5.5", 1_000_000, 128_000, nil),
        claude("claude-haiku-4-5", "Claude Haiku 4.5", 200_000, 64_000, price(1, 5, 0.1, 1.25)),
    ]

    private static let openAI: [ModelDescription] = [
        gpt("gpt-5.4", "GPT-5.4", 1_050_000, 128_000, nil),
        gpt("gpt-5.2", "GPT-5.2", 400_000, 128_000, price(1.75, 14, 0.175)),
        gpt("gpt-5.1", "GPT-5.1", 400_000, 128_000, price(1.25, 10, 0.125)),
        gpt("gpt-5", "GPT-5", 400_000, 128_000, price(1.25, 10, 0.125)),
        gpt("gpt-5-mini", "GPT-5 mini", 400_000, 128_000, price(0.25, 2, 0.025)),
        gpt("gpt-5-nano", "GPT-5 nano", 400_000, 128_000, price(0.05, 0.4, 0.005)),
        gpt("gpt-4.1", "GPT-4.1", 1_047_576, 32_768, price(2, 8, 0.5), reasons: false),
        gpt("gpt-4.1-mini", "GPT-4.1 mini", 1_047_576, 32_768, price(0.4, 1.6, 0.1), reasons: false),
        gpt("gpt-4.1-nano", "GPT-4.1 nano", 1_047_576, 32_768, price(0.1, 0.4, 0.025), reasons: false),
        gpt("gpt-4o", "GPT-4o", 128_000, 16_384, price(2.5, 10, 1.25), reasons: false),
        gpt("gpt-4o-mini", "GPT-4o mini", 128_000, 16_384, price(0.15, 0.6, 0.075), reasons: false),
        gpt("o3", "o3", 200_000, 100_000, price(2, 8, 0.5)),
        gpt("o4-mini", "o4-mini", 200_000, 100_000, price(1.1, 4.4, 0.275)),
    ]

    private static func claude(
        _ id: String, _ name: String, _ context: Int?, _ output: Int?, _ price: ModelPrice?
    ) -> ModelDescription {
        ModelDescription(
            id: id, provider: "anthropic", name: name, contextTokens: context, outputTokens: output, price: price,
            abilities: [.tools, .images, .files, .reasoning, .schema])
    }

    private static func gpt(
        _ id: String, _ name: String, _ context: Int?, _ output: Int?, _ price: ModelPrice?, reasons: Bool = true
    ) -> ModelDescription {
        let abilities: Set<ModelAbility> = [.tools, .images, .files, .schema]
        return ModelDescription(
            id: id, provider: "openai", name: name, contextTokens: context, outputTokens: output, price: price,
            abilities: reasons ? abilities.union([.reasoning]) : abilities)
    }

    /// Dollars for a million tokens: read, written, read from the cache, and written to it for five minutes.
    private static func price(
        _ input: Double, _ output: Double, _ cached: Double? = nil, _ cacheWrite: Double? = nil
    ) -> ModelPrice {
        ModelPrice(
            input: TokenPrice(perMillion: input), output: TokenPrice(perMillion: output),
            cachedInput: cached.map(TokenPrice.init(perMillion:)),
            cacheWrite: cacheWrite.map(TokenPrice.init(perMillion:)))
    }
}
