public import Capabilities

/// A message as the history has it.
public struct Entry: Sendable, Hashable {
    public let id: MessageID
    /// The message before it; nil at the beginning.
    public let parent: MessageID?
    /// What was said, as far as it got.
    public let message: Message
    public let state: State
    /// Who wrote it, of an answer.
    public let provider: String?
    public let model: String?
    public let time: Timestamp
    /// What a server said of an answer when it began.
    public let start: ChatStart?
    public let finish: ChatAnswer.Finish?
    public let usage: Usage
    /// Whether it did not become the newest message of its conversation, because somebody else had written meanwhile.
    public let isBranch: Bool

    public enum State: Sendable, Hashable {
        case complete
        /// It is being written now, by this or another process.
        case streaming
        /// The person stopped it.
        case stopped
        case failed(code: String, message: String)
        /// It was cut at a limit of tokens.
        case truncated
        /// Whoever wrote it died.
        case interrupted
    }

    /// What a model may be given of it, or nil where nothing was said. Failures are never given to a model: they are in
    /// the state and not in the message.
    public var sent: Message? {
        var message = message
        // Providers refuse thoughts without the proof that comes at their end.
        if state != .complete {
            message.parts.removeAll { part in
                if case .reasoning(let thought) = part {
                    thought.signature == nil && thought.sealed == nil
                } else {
                    false
                }
            }
        }
        return message.parts.isEmpty ? nil : message
    }
}

/// Where a new message goes when the one that it follows is not the newest any more.
public enum Placement: Sendable, Hashable {
    /// It becomes the newest message if the one that it follows still is, and else a branch beside what somebody else
    /// has written meanwhile.
    case next
    /// It becomes the newest message in any case, as when something is edited and sent again; what was there stays
    /// reachable as a branch.
    case branch
}

/// One way through a conversation to a message that nothing follows.
public struct Branch: Sendable, Hashable {
    public let tip: MessageID
    public let time: Timestamp
    /// How many messages there are up to its tip.
    public let messages: Int
    /// Whether it is the one that is shown and continued.
    public let isCurrent: Bool
}
