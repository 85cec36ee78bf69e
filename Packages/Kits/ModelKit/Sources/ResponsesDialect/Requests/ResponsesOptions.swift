public import ModelKit

/// How OpenAI's Responses are asked for what not all of its models have.
public struct ResponsesOptions: Sendable, Hashable {
    /// Whether the model's thoughts are asked for, to be sent back to it; nil is by its name, as models that do not
    /// think refuse the question.
    public var returnsReasoning: Bool?
    /// Whether a model that thinks is asked to sum its thoughts up for people, which not every account may.
    public var wantsSummaries = true

    public init() {}

    func returnsReasoning(_ model: String) -> Bool {
        if let returnsReasoning { return returnsReasoning }
        let name = model.split(separator: "/").last ?? ""
        if name.hasPrefix("gpt-") { return (name.dropFirst(4).first?.wholeNumberValue ?? 0) >= 5 }
        return name.first == "o" && name.dropFirst().first?.isNumber == true
    }

    /// The options to ask once more with, after a server has refused what this model or account does not have; nil when
    /// the refusal is about something else.
    public func adapted(to refusal: ServerRefusal) -> ResponsesOptions? {
        let words = [refusal.message, refusal.field ?? ""].joined(separator: " ").lowercased()
        var options = self
        if words.contains("summar"), wantsSummaries {
            options.wantsSummaries = false
        } else if words.contains("encrypted") || words.contains("include"), returnsReasoning != false {
            options.returnsReasoning = false
        } else {
            return nil
        }
        return options
    }
}
