public import Capabilities
public import JSON

/// What is known beforehand of well-known models, because their providers' lists say little about them.
///
/// A model is found by its id, also with the date or the word of a version behind it (`claude-sonnet-4-5-20250929`,
/// `gpt-4o-2024-08-06`, `…-latest`). Another name that only begins the same is another model, and unknown.
public struct ModelTable: Sendable, Hashable {
    /// The day on which the facts were looked up, such as `2026-11-21`.
    public var date: String
    private var models: [String: ModelDescription]

    public init(date: String, models: [ModelDescription]) {
        self.date = date
        self.models = [:]
        for model in models { self.models[Self.key(model.id, model.provider)] = model }
    }

    /// All entries, by provider and id.
    public var all: [ModelDescription] {
        models.values.sorted { ($0.provider, $0.id) < ($1.provider, $1.id) }
    }

    /// What is known of a model, under the id that was asked for.
    public func description(of id: String, provider: String) -> ModelDescription? {
        guard var model = models[Self.key(id, provider)] ?? models[Self.key(Self.family(of: id), provider)] else {
            return nil
        }
        model.id = id
        return model
    }

    /// A catalogue's own facts, completed by the table's where it has none.
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

    /// The id without what only names a version of the same model.
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
    /// The table with the entries of a JSON text over it, as a person may keep them in a file:
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
        .init("provider", "Who has it", .string), .init("id", "What it is asked for by", .string),
        .init("name", "What it is called", .optional(.string)),
        .init("context", "How many tokens fit in, with the answer", .optional(.integer(1...1_000_000_000))),
        .init("output", "How many tokens an answer can have", .optional(.integer(1...1_000_000_000))),
        .init("abilities", "What it can do", .optional(.array(ModelAbility.schema))),
        .init("input_usd", "Dollars for a million tokens that it reads", price),
        .init("output_usd", "Dollars for a million tokens that it writes", price),
        .init("cached_input_usd", "Dollars for a million tokens from the cache", price),
        .init("cache_write_usd", "Dollars for a million tokens into the cache", price),
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
