import Capabilities
import Registry

/// The actions by which hosts read conversations. Hosts may use them only if they are named in the grant, and so the same
/// door decides about conversations as about everything else.
enum ConversationActions {
    static let list = "mcp.serve.conversations"
    static let one = "mcp.serve.conversation"
    static let ids = [list, one]

    /// The most conversations that are listed.
    static let most = 1_000

    static var all: [Action] {
        [
            Action(
                list, "The conversations that MCP hosts may read", .reads,
                .option("limit", "How many, the newest first", in: 1...most, default: most)
            ) { context, limit in
                try await context.provider(of: (any ConversationStore).self)?.conversations(limit: limit) ?? []
            }.byName().hidden(),
            Action(
                one, "A conversation as MCP hosts read it", .reads,
                .argument("conversation", "The id of the conversation")
            ) { context, id in
                guard let store = try await context.provider(of: (any ConversationStore).self) else {
                    throw ServeFailure(.nothing, "no feature keeps conversations here", exit: .failed)
                }
                return ConversationText.markdown(of: try await store.messages(of: id))
            }.byName().hidden(),
        ]
    }
}

/// A conversation as one Markdown text.
enum ConversationText {
    static func markdown(of messages: [ConversationMessage]) -> String {
        messages.map { entry in
            let about = entry.model.map { ", \(PlainText.escape($0))" } ?? ""
            let state = entry.state == "complete" ? "" : " (\(PlainText.escape(entry.state)))"
            return "## \(entry.message.role.rawValue)\(about), \(entry.time.iso8601)\(state)\n\n"
                + entry.message.parts.map(text).joined(separator: "\n\n")
        }.joined(separator: "\n\n") + "\n"
    }

    private static func text(_ part: Message.Part) -> String {
        switch part {
        case .text(let text), .refusal(let text): text
        case .reasoning(let reasoning):
            reasoning.text.isEmpty ? "" : "> " + lines(reasoning.text).joined(separator: "\n> ")
        case .attachment(let file): "[\(PlainText.escape(file.name)), \(ByteCount(file.bytes.count).words)]"
        case .call(let call): "`\(PlainText.escape(call.name))`"
        case .malformedCall(let call): "`\(PlainText.escape(call.name))` (not valid)"
        case .result(let result): "> " + lines(result.content).joined(separator: "\n> ")
        }
    }

    private static func lines(_ text: String) -> [Substring] {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    }
}
