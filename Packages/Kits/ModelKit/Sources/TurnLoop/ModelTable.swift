public import Capabilities
public import JSON

/// Facts about well-known models, because their providers' lists have few.
///
/// A model is found by its id, also with a date or version word after it (`claude-sonnet-4-5-20250929`,
/// `gpt-4o-2024-08-06`, `…-latest`). Another name that only begins alike is another, unknown model.
public struct ModelTable: Sendable, Hashable {
    /// The day of the facts, such as `2026-11-21`.
    public var date: String
    private var models: [String: ModelDescription]

    /// - Parameter models: of entries with the same provider and id, the last one counts.
    public init(date: String, models: [ModelDescription]) {
        self.date = date
        self.models = [:]
        for model in models { self.models[Self.key(model.id, model.provider)] = model }
    }

    /// All entries, by provider and id.
    public var all: [ModelDescription] {
        models.values.sorted { ($0.provider, $0.id) < ($1.provider, $1.id) }
    }

    /// The facts about a model, under the requested id.
    public func description(of id: String, provider: String) -> ModelDescription? {
        guard var model = models[Self.key(id, provider)] ?? models[Self.key(Self.family(of: id), provider)] else {
            return nil
        }
        model.id = id
        return model
    }

    /// A catalogue's facts, completed by those of the table.
    public func completing(_ model: ModelDescription) -> ModelDescription {
        guard let known = description(of: model.id, provider: model.provider) else { return model }
        var model = model
        model.name = model.name ?? known.name
        model.contextTokens = model.contextTokens ?? known.contextTokens
        model.outputTokens = model.outputTokens ?? known.outputTokens
        model.price = model.price ?? known.price
        model.abilities = model.abilities ?? known.abilities
        return model
    }

    private static func key(_ id: String, _ provider: String) -> String { "\(provider)/\(id)" }

    /// The id without a suffix that names a version of the same model.
    private static func family(of id: String) -> String {
        if id.hasSuffix("-latest") { return String(id.dropLast("-latest".count)) }
        for shape in ["-dddddddd", "-dddd-dd-dd"] {
            let end = id.suffix(shape.count)
            let fits =
                end.count == shape.count
                && zip(end, shape).allSatisfy { $1 == "d" ? $0.isASCII && $0.isNumber : $0 == $1 }
            if fits { return String(id.dropLast(shape.count)) }
        }
        return id
    }
}

// MARK: JSON

extension ModelTable {
    /// The table with the entries of a JSON text added, which the user may keep in a file:
    ///
    ///     {"date": "2026-11-21", "models": [{"provider": "openai", "id": "gpt-4o", "context": 128000, "input_usd": 2.5}]}
    ///
    /// An entry replaces the whole one of the same provider and id. Prices are for a million tokens.
    public func overridden(by json: JSON) throws(ValueError) -> ModelTable {
        guard let models = json["models"]?.array else { throw ValueError("needs a list", at: ["models"]) }
        var table = self
        if let date = json["date"]?.string { table.date = date }
        for (index, json) in models.enumerated() {
            do {
                let model = try Self.model(json)
                table.models[Self.key(model.id, model.provider)] = model
            } catch { throw error.under(String(index)).under("models") }
        }
        return table
    }

    private static let entry = Schema.record([
        .init("provider", "Id of the provider", .string), .init("id", "Id of the model", .string),
        .init("name", "Display name", .optional(.string)),
        .init("context", "Maximum tokens of a request with its answer", .optional(.integer(1...1_000_000_000))),
        .init("output", "Maximum tokens of an answer", .optional(.integer(1...1_000_000_000))),
        .init("abilities", "Abilities of the model", .optional(.array(ModelAbility.schema))),
        .init("input_usd", "Dollars per million input tokens", price),
        .init("output_usd", "Dollars per million output tokens", price),
        .init("cached_input_usd", "Dollars per million tokens read from the cache", price),
        .init("cache_write_usd", "Dollars per million tokens written to the cache", price),
    ])

    private static let price = Schema.optional(.number(0...1_000_000))

    private static func model(_ json: JSON) throws(ValueError) -> ModelDescription {
        if let problem = entry.problems(in: json).first { throw problem }
        guard let id = json["id"]?.string, let provider = json["provider"]?.string else {
            throw ValueError("needs an id and a provider")
        }
        func price(_ name: String) -> TokenPrice? { json[name]?.double.map(TokenPrice.init(perMillion:)) }
        let prices = ModelPrice(
            input: price("input_usd"), output: price("output_usd"), cachedInput: price("cached_input_usd"),
            cacheWrite: price("cache_write_usd"))
        return ModelDescription(
            id: id, provider: provider, name: json["name"]?.string, contextTokens: json["context"]?.int,
            outputTokens: json["output"]?.int, price: prices == ModelPrice() ? nil : prices,
            abilities: (json["abilities"]?.array).map { Set($0.compactMap { $0.string.flatMap(ModelAbility.init) }) })
    }
}

extension ModelTable {
    /// The models of vendors whose own lists lack these facts.
    ///
    /// From the vendors' pages on models and prices. A fact that was not found there is nil, and so is a price that
    /// depends on the length of the request.
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

extension ModelPrice {
    /// The cost, exact to a billionth of a dollar. Nil if a count or price that matters is unknown, because a partial
    /// sum would look like the total.
    public func cost(of usage: Usage) -> Cost? {
        guard let input = usage.inputTokens, let output = usage.outputTokens else { return nil }
        let cached = usage.cachedTokens ?? 0
        let written = usage.cacheWriteTokens ?? 0
        guard input >= 0, output >= 0, cached >= 0, written >= 0, cached <= input, written <= input - cached else {
            return nil
        }
        var sum = 0
        let items = [
            (input - cached - written, self.input), (cached, cachedInput), (written, cacheWrite), (output, self.output),
        ]
        for (count, price) in items where count > 0 {
            guard let price else { return nil }
            let (product, isTooLarge) = count.multipliedReportingOverflow(by: price.femtodollars)
            let (total, isTooMuch) = sum.addingReportingOverflow(product)
            if isTooLarge || isTooMuch { return nil }
            sum = total
        }
        // A billionth of a dollar is a million of the units in which prices are stored; halves are rounded up.
        return Cost(nanodollars: sum / 1_000_000 + (sum % 1_000_000 >= 500_000 ? 1 : 0))
    }
}
