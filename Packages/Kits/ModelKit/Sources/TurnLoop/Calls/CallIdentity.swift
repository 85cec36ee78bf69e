import Capabilities
import JSON

extension Message {
    /// The calls that have to be answered, the malformed ones with their text as input, in order.
    var openCalls: [ToolCall] {
        parts.compactMap { part in
            switch part {
            case .call(let call): call.isDone ? nil : call
            case .malformedCall(let call): ToolCall(id: call.id, name: call.name, input: .string(call.text))
            default: nil
            }
        }
    }
}

/// Sees to it that each call of a message has an id of its own, because some servers number them carelessly.
enum CallIdentity {
    static func distinct(_ message: Message) -> Message {
        var message = message
        var taken: Set<String> = []
        for index in message.parts.indices {
            switch message.parts[index] {
            case .call(var call) where !call.isDone:
                call.id = free(call.id, &taken)
                message.parts[index] = .call(call)
            case .malformedCall(var call):
                call.id = free(call.id, &taken)
                message.parts[index] = .malformedCall(call)
            default: break
            }
        }
        return message
    }

    /// The id itself, or the id with a number. Providers take letters, digits, `_` and `-` only.
    private static func free(_ id: String, _ taken: inout Set<String>) -> String {
        let wanted = id.isEmpty ? "call" : id
        var name = wanted
        var number = 1
        while !taken.insert(name).inserted {
            number += 1
            name = "\(wanted)_\(number)"
        }
        return name
    }
}
