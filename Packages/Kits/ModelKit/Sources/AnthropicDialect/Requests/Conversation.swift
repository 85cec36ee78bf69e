import Capabilities
import JSON
import ModelKit

/// A conversation as Anthropic wants it: what the system says apart, and turns of the user and the assistant.
struct Conversation {
    struct Turn {
        var role: String
        /// The results of calls, which have to come first and all in one turn.
        var results: [JSONObject] = []
        var content: [JSONObject] = []

        var json: JSON {
            ["role": .string(role), "content": .array((results + content).map(JSON.object))]
        }

        var isEmpty: Bool { results.isEmpty && content.isEmpty }

        mutating func markCache() {
            if content.isEmpty {
                results[results.count - 1].markCache()
            } else {
                content[content.count - 1].markCache()
            }
        }
    }

    private(set) var system: [JSON] = []
    private(set) var turns: [Turn] = []

    init(_ messages: [Message]) throws(DialectError) {
        // A server that has run a call itself is not told of it again.
        let done = Set(messages.flatMap(\.calls).filter(\.isDone).map(\.id))
        for message in messages {
            var turn = Turn(role: message.role == .assistant ? "assistant" : "user")
            for part in message.parts {
                if case .result(let result) = part {
                    if !done.contains(result.call) { turn.results.append(ContentBlock.json(result)) }
                } else if let block = try ContentBlock.json(part, of: message.role) {
                    turn.content.append(block)
                }
            }
            if message.role == .system {
                system += turn.content.map(JSON.object)
            } else {
                append(turn)
            }
        }
    }

    /// Adds a turn, or goes on with the last one if that is the same side's.
    private mutating func append(_ turn: Turn) {
        guard !turn.isEmpty else { return }
        if let last = turns.last, last.role == turn.role {
            turns[turns.count - 1].results += turn.results
            turns[turns.count - 1].content += turn.content
        } else {
            turns.append(turn)
        }
    }

    /// Marks the end of what the next request will begin with too: what the system says, and the last two turns of the
    /// user. The older of those is found again in the cache, the newer goes into it. With the tools that makes four
    /// marks, which is the most.
    mutating func markCache() {
        if case .object(var last) = system.last {
            last.markCache()
            system[system.count - 1] = .object(last)
        }
        for place in turns.indices.filter({ turns[$0].role == "user" }).suffix(2) { turns[place].markCache() }
    }
}

extension JSONObject {
    mutating func markCache() {
        self["cache_control"] = ["type": "ephemeral"]
    }
}
