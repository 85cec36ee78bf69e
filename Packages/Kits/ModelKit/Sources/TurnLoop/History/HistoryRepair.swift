public import Capabilities
import JSON

/// Turns any history into one that every provider accepts.
///
/// Providers require that each call is answered once, right after its message, and refuse results without a call. A
/// killed program, an imported conversation or a cut in the middle breaks this.
public enum HistoryRepair {
    /// The history without empty messages and stray results, and with a result for every call.
    public static func repaired(_ messages: [Message]) -> [Message] {
        var repaired: [Message] = []
        var index = 0
        while index < messages.count {
            let message = messages[index]
            index += 1
            switch message.role {
            // The results after a call are handled with it. Any others belong to no call.
            case .tool: continue
            case .assistant where saysNothing(message): continue
            case .system, .user: if !message.parts.isEmpty { repaired.append(message) }
            case .assistant:
                let distinct = CallIdentity.distinct(message)
                repaired.append(distinct)
                let following = messages[index...].prefix { $0.role == .tool }
                index += following.count
                let ids = distinct.openCalls.map(\.id)
                let answer = answer(to: message.openCalls, as: ids, with: following.flatMap(\.parts))
                if !answer.parts.isEmpty { repaired.append(answer) }
            }
        }
        return repaired
    }

    /// One result for each call, in their order.
    ///
    /// - Parameter ids: the ids that the calls get.
    private static func answer(to calls: [ToolCall], as ids: [String], with parts: [Message.Part]) -> Message {
        // Nearly all are whole, and a long history is looked through for each answer.
        if isWhole(parts, calls, ids) { return Message(.tool, parts) }
        var found: [String: [ToolResult]] = [:]
        for case .result(let result) in parts { found[result.call, default: []].append(result) }
        guard !calls.isEmpty else { return Message(.tool, []) }
        var answer = Message(.tool, [])
        for (call, id) in zip(calls, ids) {
            var result = ToolResult(call: id, content: CallMessages.unknownEnd, isError: true)
            if var known = found[call.id], !known.isEmpty {
                result = known.removeFirst()
                found[call.id] = known
            }
            result.call = id
            answer.parts.append(.result(result))
        }
        // Content of a tool besides its result, such as an image.
        answer.parts += parts.filter { if case .result = $0 { false } else { true } }
        return answer
    }

    private static func isWhole(_ parts: [Message.Part], _ calls: [ToolCall], _ ids: [String]) -> Bool {
        guard parts.count == calls.count else { return false }
        return calls.indices.allSatisfy { index in
            guard case .result(let result) = parts[index] else { return false }
            return result.call == calls[index].id && calls[index].id == ids[index]
        }
    }

    /// An answer that was stopped during its reasoning. No provider accepts reasoning alone.
    private static func saysNothing(_ message: Message) -> Bool {
        message.parts.allSatisfy { part in
            switch part {
            case .reasoning: true
            case .text(let text): text.isEmpty
            default: false
            }
        }
    }
}

extension Message {
    /// The calls that need results, in order. Malformed ones have their text as input.
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

/// Gives each call of a message a unique id, because some servers number them carelessly.
enum CallIdentity {
    static func distinct(_ message: Message) -> Message {
        var message = message
        var taken: Set<String> = []
        for index in message.parts.indices {
            switch message.parts[index] {
            case .call(var call) where !call.isDone:
                guard let id = free(call.id, &taken) else { continue }
                call.id = id
                message.parts[index] = .call(call)
            case .malformedCall(var call):
                guard let id = free(call.id, &taken) else { continue }
                call.id = id
                message.parts[index] = .malformedCall(call)
            default: break
            }
        }
        return message
    }

    /// The id with a number, or nil if the id can stay. Providers only accept letters, digits, `_` and `-`.
    private static func free(_ id: String, _ taken: inout Set<String>) -> String? {
        let wanted = id.isEmpty ? "call" : id
        var name = wanted
        var number = 1
        while !taken.insert(name).inserted {
            number += 1
            name = "\(wanted)_\(number)"
        }
        return name == id ? nil : name
    }
}

/// Shortens tool results for the model. The conversation keeps them whole.
enum ResultTrim {
    /// - Parameter canRead: whether the model has the tool that reads the rest.
    static func trimmed(_ messages: [Message], to limit: Int, canRead: Bool = false) -> [Message] {
        messages.map { message in
            guard message.role == .tool else { return message }
            var message = message
            for index in message.parts.indices {
                guard case .result(var result) = message.parts[index], result.content.utf8.count > limit else {
                    continue
                }
                let images = result.images.map(ToolPart.media)
                result.parts =
                    [.text(trimmed(result.content, to: limit, reading: canRead ? result.call : nil))] + images
                message.parts[index] = .result(result)
            }
            return message
        }
    }

    /// The beginning and the end, which usually has the error or the summary, with a note between them. The same text
    /// is always cut at the same places, so that a provider's cache stays valid.
    ///
    /// - Parameter call: the call by which a tool reads the rest.
    static func trimmed(_ text: String, to limit: Int, reading call: String? = nil) -> String {
        let count = text.utf8.count
        guard count > limit else { return text }
        let head = text.utf8.index(text.startIndex, offsetBy: max(0, limit) / 4 * 3)
        let tail = text.utf8.index(text.endIndex, offsetBy: -(max(0, limit) / 4))
        // Not through a character.
        let first = text[..<head.roundedDown(in: text)]
        let last = text[tail.roundedUp(in: text)...]
        let missing = count - first.utf8.count - last.utf8.count
        let tool = ToolDescription.sentName(ConversationTools.read)
        let way = call.map { "\(tool) with the call \($0) reads them" } ?? "ask for a part of it to see them"
        let note = "[… \(missing) of \(count) bytes are left out here; \(way) …]"
        return "\(first)\n\(note)\n\(last)"
    }
}

extension String.Index {
    func roundedDown(in text: String) -> String.Index {
        var index = self
        while index > text.startIndex, index.samePosition(in: text.unicodeScalars) == nil {
            index = text.utf8.index(before: index)
        }
        return index
    }

    func roundedUp(in text: String) -> String.Index {
        var index = self
        while index < text.endIndex, index.samePosition(in: text.unicodeScalars) == nil {
            index = text.utf8.index(after: index)
        }
        return index
    }
}
