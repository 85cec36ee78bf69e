public import Capabilities
public import JSON
public import ModelKit

extension OpenAIDialect {
    /// An error as OpenAI's clients read it. The status says the rest.
    public static func envelope(_ refusal: ServerRefusal) -> JSONObject {
        let error: JSON = [
            "message": .string(refusal.message), "type": .string(refusal.type ?? "error"),
            "param": refusal.field.map(JSON.string) ?? .null, "code": refusal.code.map(JSON.string) ?? .null,
        ]
        return ["error": error]
    }

    /// A list of models as OpenAI's clients read it, with what some servers tell besides.
    public static func modelList(_ models: [ModelDescription], created: Int) -> JSONObject {
        let entries = models.map { model -> JSON in
            var entry: JSONObject = [
                "id": .string(model.id), "object": "model", "created": .int(created),
                "owned_by": .string(model.provider),
            ]
            entry["name"] = model.name.map(JSON.string)
            entry["context_length"] = model.contextTokens.map(JSON.int)
            return .object(entry)
        }
        return ["object": "list", "data": .array(entries)]
    }
}
