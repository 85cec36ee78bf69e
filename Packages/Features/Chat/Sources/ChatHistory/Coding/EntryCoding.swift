import Capabilities
import JSON
import StorageKit

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
