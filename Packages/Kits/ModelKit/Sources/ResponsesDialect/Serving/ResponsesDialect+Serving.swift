public import JSON
public import ModelKit

extension ResponsesDialect {
    /// An error as OpenAI's clients read it. The status says the rest.
    public static func envelope(_ refusal: ServerRefusal) -> JSONObject {
        let error: JSON = [
            "message": .string(refusal.message), "type": .string(refusal.type ?? "error"),
            "param": refusal.field.map(JSON.string) ?? .null, "code": refusal.code.map(JSON.string) ?? .null,
        ]
        return ["error": error]
    }
}
