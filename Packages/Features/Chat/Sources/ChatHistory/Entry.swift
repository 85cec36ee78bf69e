public import Capabilities
import JSON
import StorageKit

/// A stored message.
public struct Entry: Sendable, Hashable {
    /// The id, unique in the history.
    public let id: MessageID
    /// The message before it; nil for the first one.
    public let parent: MessageID?
    /// The content, as far as it arrived.
    public var message: Message
    /// Whether it is complete, and why not.
    public let state: State
    /// The provider, for an answer.
    public let provider: String?
    /// The model, for an answer.
    public let model: String?
    /// When it was sent; of an import, the time in the document.
    public let time: Timestamp
    /// What the server reported at the start of the answer.
    public let start: ChatStart?
    /// Why the model stopped, for an answer whose end was reported.
    public let finish: ChatAnswer.Finish?
    /// The usage of an answer. Its values are nil if the server reported none.
    public let usage: Usage
    /// Whether it is a branch, because another message was added to the conversation in the meantime.
    public let isBranch: Bool

    /// How far the message got.
    public enum State: Sendable, Hashable {
        case complete
        /// It is being written now, by this or another process.
        case streaming
        /// The user stopped it.
        case stopped
        case failed(code: String, message: String)
        /// It was cut off at a token limit.
        case truncated
        /// The process that wrote it ended.
        case interrupted
    }

    /// The part that may be sent to a model; nil if there is none. Failures are never sent: they are in the state and
    /// not in the message. `withCommandsAsText` makes text of what the person ran.
    public var sent: Message? {
        var message = message
        // Providers refuse reasoning without the signature that comes at its end.
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

/// Where a new message goes if the message before it is no longer the newest.
public enum Placement: Sendable, Hashable {
    /// It becomes the newest message if the one before it still is. Otherwise it becomes a branch.
    case next
    /// It always becomes the newest message, for example when an edited message is sent again. The old messages stay
    /// reachable as a branch.
    case branch
}

/// A path through a conversation that ends at a message without a successor.
public struct Branch: Sendable, Hashable {
    /// The message at its end.
    public let tip: MessageID
    /// The time of the message at its end.
    public let time: Timestamp
    /// The number of messages up to its tip.
    public let messages: Int
    /// Whether it is the branch that is shown and continued.
    public let isCurrent: Bool
}

/// Encodes and decodes the members of a message other than its parts.
enum EntryCoder {
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

/// The stored word for a state.
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
    /// The sum like `+`, but saturating instead of trapping on invented numbers of a server.
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
