public import Capabilities
import JSON
import StorageKit

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

/// The facts of a message that are no parts, as JSON and back.
enum EntryCoding {
    // MARK: Usage, in whole numbers only

    static func json(_ usage: Usage) -> JSON {
        var object = JSONObject()
        object.add("input_tokens", usage.inputTokens)
        object.add("output_tokens", usage.outputTokens)
        object.add("cached_tokens", usage.cachedTokens)
        object.add("cache_write_tokens", usage.cacheWriteTokens)
        object.add("reasoning_tokens", usage.reasoningTokens)
        object.add("cost_nanodollars", usage.cost?.nanodollars)
        return .object(object)
    }

    static func usage(_ json: JSON) throws(ValueError) -> Usage {
        func count(_ name: String) throws(ValueError) -> Int? {
            let number: Int? = try json.optional(name)
            if let number, number < 0 { throw ValueError("cannot be less than 0", at: [name]) }
            return number
        }
        return Usage(
            inputTokens: try count("input_tokens"), outputTokens: try count("output_tokens"),
            cachedTokens: try count("cached_tokens"), cacheWriteTokens: try count("cache_write_tokens"),
            reasoningTokens: try count("reasoning_tokens"),
            cost: try count("cost_nanodollars").map(Cost.init(nanodollars:)))
    }

    // MARK: What a server said when it began

    static func json(_ start: ChatStart) -> JSON {
        var object = JSONObject()
        object.add("id", start.id)
        object.add("model", start.model)
        object.add("session", start.session)
        object.add("project", start.project)
        return .object(object)
    }

    static func start(_ json: JSON) throws(ValueError) -> ChatStart {
        ChatStart(
            id: try json.optional("id"), model: try json.optional("model"), session: try json.optional("session"),
            project: try json.optional("project"))
    }
}

/// The word for a state, as it is stored.
enum StateWord: String, Storable, Choice {
    case complete, streaming, stopped, failed, truncated, interrupted

    init(_ state: Entry.State) {
        self =
            switch state {
            case .complete: .complete
            case .streaming: .streaming
            case .stopped: .stopped
            case .failed: .failed
            case .truncated: .truncated
            case .interrupted: .interrupted
            }
    }

    func state(code: String?, message: String?) -> Entry.State {
        switch self {
        case .complete: .complete
        case .streaming: .streaming
        case .stopped: .stopped
        case .failed: .failed(code: code ?? "unexpected", message: message ?? "something went wrong")
        case .truncated: .truncated
        case .interrupted: .interrupted
        }
    }
}

extension Usage {
    /// The sum as `+` makes it, which stays at the largest number instead of trapping on what a server made up.
    func adding(_ other: Usage) -> Usage {
        func sum(_ left: Int?, _ right: Int?) -> Int? {
            guard let left, let right else { return left ?? right }
            let (sum, isOver) = left.addingReportingOverflow(right)
            return isOver ? (left < 0 ? .min : .max) : sum
        }
        return Usage(
            inputTokens: sum(inputTokens, other.inputTokens), outputTokens: sum(outputTokens, other.outputTokens),
            cachedTokens: sum(cachedTokens, other.cachedTokens),
            cacheWriteTokens: sum(cacheWriteTokens, other.cacheWriteTokens),
            reasoningTokens: sum(reasoningTokens, other.reasoningTokens),
            cost: sum(cost?.nanodollars, other.cost?.nanodollars).map(Cost.init(nanodollars:)))
    }
}
