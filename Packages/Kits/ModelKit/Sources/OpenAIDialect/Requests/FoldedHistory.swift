import Capabilities

/// A conversation in one message, for servers that read the first system message and the last one of the user, and
/// remember nothing.
enum FoldedHistory {
    static func fold(_ conversation: [Message]) -> [Message] {
        let instructions = conversation.filter { $0.role == .system }.map(\.text).filter { !$0.isEmpty }
        var said = conversation.filter { $0.role != .system && !words(of: $0).isEmpty }
        var folded: [Message] = []
        if !instructions.isEmpty { folded.append(Message(.system, instructions.joined(separator: "\n\n"))) }
        let last = conversation.last { $0.role == .user }
        guard said.count > 1 else { return folded + (last.map { [$0] } ?? said) }

        var text = "This is our conversation so far.\n\n"
        let question = said.last?.role == .user ? said.removeLast() : nil
        for message in said {
            text += "<\(message.role.rawValue)>\n\(words(of: message))\n</\(message.role.rawValue)>\n\n"
        }
        text += question.map { "Now answer this:\n\n\(words(of: $0))" } ?? "Now go on."
        // Attachments stay, to be refused by name.
        let attachments = (last?.parts ?? []).filter { if case .attachment = $0 { true } else { false } }
        return folded + [Message(.user, [.text(text)] + attachments)]
    }

    private static func words(of message: Message) -> String {
        message.parts.compactMap { part -> String? in
            switch part {
            case .text(let text), .refusal(let text): text
            case .result(let result) where message.role == .tool: result.content
            default: nil
            }
        }.joined()
    }
}
