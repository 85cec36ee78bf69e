import JSON

extension OpenAIQuirks {
    func limitName(for model: String) -> String {
        switch tokenLimit {
        case .maxTokens: "max_tokens"
        case .maxCompletionTokens: "max_completion_tokens"
        case .byModel: Self.isNew(model) ? "max_completion_tokens" : "max_tokens"
        }
    }

    func systemRole(for model: String) -> JSON {
        usesDeveloperRole && Self.isNew(model) ? "developer" : "system"
    }

    /// Whether a model is one of OpenAI's since o1, which think, and for which the names were changed.
    private static func isNew(_ model: String) -> Bool {
        let name = model.split(separator: "/").last ?? ""
        if name.hasPrefix("gpt-") { return (name.dropFirst(4).first?.wholeNumberValue ?? 0) >= 5 }
        return name.first == "o" && name.dropFirst().first?.isNumber == true
    }
}
