public import Capabilities

/// A message of a session as it was stored.
public struct StoredMessage: Sendable, Hashable {
    /// What it is called, in all sessions. Newer ones have larger numbers.
    public let number: Int
    public let message: Message
    /// False for an answer that was stopped or broke off.
    public let isWhole: Bool
    /// Who wrote it, of an answer.
    public let provider: String?
    public let model: String?
    /// What the provider said when it began.
    public let start: ChatStart?
    public let finish: ChatAnswer.Finish?
    public let usage: Usage?
    public let time: Timestamp
    /// Why it cannot be read, if so; it has no parts then.
    public let problem: String?

    /// What a model may be given of it. Providers refuse thoughts without the proof that comes at their end.
    var sent: Message {
        var message = message
        guard !isWhole else { return message }
        message.parts.removeAll { part in
            if case .reasoning(let thought) = part { thought.signature == nil && thought.sealed == nil } else { false }
        }
        return message
    }
}
