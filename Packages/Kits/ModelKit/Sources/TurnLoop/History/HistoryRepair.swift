public import Capabilities

/// Makes a history one that every provider takes, whatever it has been through.
///
/// Providers demand that each call is answered right behind the message that makes it, once, and refuse answers to calls
/// that nobody has made. A killed program, an imported conversation or a cut through the middle breaks that.
public enum HistoryRepair {
    public static func repaired(_ messages: [Message]) -> [Message] {
        var repaired: [Message] = []
        var index = 0
        while index < messages.count {
            let message = messages[index]
            index += 1
            switch message.role {
            // Results that follow a call are taken with it, and what is left belongs to none.
            case .tool: continue
            case .assistant where saysNothing(message): continue
            case .system, .user: if !message.parts.isEmpty { repaired.append(message) }
            case .assistant:
                repaired.append(CallIdentity.distinct(message))
                let following = messages[index...].prefix { $0.role == .tool }
                index += following.count
                let answer = answer(to: message, with: following.flatMap(\.parts))
                if !answer.parts.isEmpty { repaired.append(answer) }
            }
        }
        return repaired
    }

    /// One result for each call, in their order.
    private static func answer(to message: Message, with parts: [Message.Part]) -> Message {
        var found: [String: [ToolResult]] = [:]
        for case .result(let result) in parts { found[result.call, default: []].append(result) }
        let calls = message.openCalls
        guard !calls.isEmpty else { return Message(.tool, []) }
        let ids = CallIdentity.distinct(message).openCalls.map(\.id)
        var answer = Message(.tool, [])
        for (call, id) in zip(calls, ids) {
            var result = ToolResult(call: id, content: CallWords.unknownEnd, isError: true)
            if var known = found[call.id], !known.isEmpty {
                result = known.removeFirst()
                found[call.id] = known
            }
            result.call = id
            answer.parts.append(.result(result))
        }
        // What a tool has brought beside its result, such as an image.
        answer.parts += parts.filter { if case .result = $0 { false } else { true } }
        return answer
    }

    /// An answer that was stopped while the model still thought. Its thoughts alone are taken by nobody.
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
