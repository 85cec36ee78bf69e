import JSON

extension [JSON] {
    /// The text of all chunks.
    var text: String { compactMap { $0["choices"]?[0]?["delta"]?["content"]?.string }.joined() }

    /// Why the model stopped.
    var finish: String? { compactMap { $0["choices"]?[0]?["finish_reason"]?.string }.last }

    /// The frames of that kind.
    func frames(_ object: String) -> [JSON] { filter { $0["object"]?.string == object } }
}

extension JSON {
    /// The text of a whole chat completion.
    var reply: String? { self["choices"]?[0]?["message"]?["content"]?.string }

    /// The code of an error.
    var errorCode: String? { self["error"]?["code"]?.string }
}

/// A chat request with one message.
func asking(_ text: String, _ model: String = "test/echo", _ more: JSONObject = [:]) -> JSON {
    var body: JSONObject = [
        "model": .string(model), "messages": [["role": "user", "content": .string(text)]],
    ]
    for (key, value) in more { body[key] = value }
    return .object(body)
}
