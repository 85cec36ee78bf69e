public import ModelKit

extension OpenAIQuirks {
    /// The quirks to ask once more with, after a server has refused a name that this one calls differently; nil when
    /// the refusal is about something else.
    public func adapted(to refusal: ServerRefusal) -> OpenAIQuirks? {
        let words = [refusal.message, refusal.code ?? "", refusal.field ?? ""].joined(separator: " ").lowercased()
        let signs = ["unsupported", "not supported", "unrecognized", "unknown", "not permitted", "unexpected", "extra"]
        guard signs.contains(where: { words.contains($0) }) else { return nil }
        var quirks = self
        if words.contains("max_completion_tokens") {
            // The one name is refused by naming the other, or it is itself the unknown one.
            quirks.tokenLimit = tokenLimit == .maxCompletionTokens ? .maxTokens : .maxCompletionTokens
        } else if words.contains("stream_options"), asksForUsage {
            quirks.asksForUsage = false
        } else if words.contains("developer"), usesDeveloperRole {
            quirks.usesDeveloperRole = false
        } else {
            return nil
        }
        return quirks
    }
}
