public import Capabilities
public import JSON
public import ModelKit

/// Some of a server's models, and where the rest is.
public struct ModelPage: Sendable, Hashable {
    public var models: [ModelDescription]
    /// What to ask the next page with, as `after_id`; nil when this is the last one.
    public var next: String?

    public init(models: [ModelDescription], next: String? = nil) {
        self.models = models
        self.next = next
    }
}

extension AnthropicDialect {
    /// The models in a page of the list, in the server's order. What is no model, or can no longer be asked, is passed
    /// over.
    public static func models(in body: [UInt8], provider: String) throws(DialectError) -> ModelPage {
        guard let list = try AnswerObject.read(body), let entries = list["data"]?.array else { throw .malformed(body) }
        let models = entries.compactMap { entry -> ModelDescription? in
            guard let id = entry["id"]?.filled, entry["lifecycle"] != "retired" else { return nil }
            return ModelDescription(
                id: id, provider: provider, name: entry["display_name"]?.filled,
                contextTokens: limit(entry["max_input_tokens"]), outputTokens: limit(entry["max_tokens"]),
                abilities: abilities(entry["capabilities"]))
        }
        let hasMore = list["has_more"]?.bool ?? false
        return ModelPage(models: models, next: hasMore ? list["last_id"]?.filled : nil)
    }

    /// Zero is how some say that they do not know.
    private static func limit(_ value: JSON?) -> Int? {
        value.tokens.flatMap { $0 > 0 ? $0 : nil }
    }

    private static func abilities(_ capabilities: JSON?) -> Set<ModelAbility>? {
        guard let capabilities, capabilities.object != nil else { return nil }
        // Every model of Anthropic's can use tools.
        var abilities: Set<ModelAbility> = [.tools]
        let names: [(String, ModelAbility)] = [
            ("image_input", .images), ("pdf_input", .files), ("thinking", .reasoning), ("structured_outputs", .schema),
        ]
        for (name, ability) in names where capabilities[name]?["supported"]?.bool == true { abilities.insert(ability) }
        return abilities
    }

    /// A list of models as Anthropic's clients read it.
    public static func modelList(_ models: [ModelDescription]) -> JSONObject {
        let entries = models.map { model -> JSON in
            var entry: JSONObject = [
                "type": "model", "id": .string(model.id), "display_name": .string(model.name ?? model.id),
                // The beginning of time is how Anthropic says that it does not know.
                "created_at": "1970-01-01T00:00:00Z", "lifecycle": "active",
            ]
            entry["max_input_tokens"] = model.contextTokens.map(JSON.int)
            entry["max_tokens"] = model.outputTokens.map(JSON.int)
            return .object(entry)
        }
        return [
            "data": .array(entries), "has_more": false, "first_id": models.first.map { .string($0.id) } ?? .null,
            "last_id": models.last.map { .string($0.id) } ?? .null,
        ]
    }
}
