public import Capabilities
import JSON

/// A command that the person ran in a conversation, with what it printed.
///
/// It is stored as a message of its own: a call that is done, with its result, in the role `tool`, where the calls of a
/// model never are. A model gets it as text, at the beginning of the message that follows, because it did not make the
/// call, and may have no tools.
public struct PersonCommand: Sendable, Hashable {
    /// The command, as the person typed it.
    public let command: String
    /// The end of the command. Its content is what was printed.
    public let result: ToolResult

    private static let name = "command"

    /// - Parameter result: of the whole command, or of a part if the person stopped it.
    public init(_ command: String, _ result: ToolResult) {
        self.command = command
        self.result = result
    }

    /// The command in a stored message; nil if it is another one.
    public init?(_ message: Message) {
        guard message.role == .tool, message.parts.count == 2, case .call(let call) = message.parts[0], call.isDone,
            call.name == Self.name, let command = call.input["command"]?.string,
            case .result(let result) = message.parts[1]
        else { return nil }
        self.init(command, result)
    }

    /// The message to store.
    public var message: Message {
        var result = result
        result.call = Self.name
        let call = ToolCall(id: Self.name, name: Self.name, input: ["command": .string(command)], isDone: true)
        return Message(.tool, [.call(call), .result(result)])
    }

    /// How it ended, in one word for a state.
    public var state: String { result.isError ? "failed" : "done" }

    /// The words for a model, with an empty line at the end.
    public var words: String {
        let end =
            switch result.exitCode {
            case 0?: "It ended with exit code 0 and printed:"
            case let code?: "It ended with exit code \(code) and printed:"
            case nil: "It did not end by itself. What is known of it:"
            }
        return "I ran this command:\n\n\(Self.fenced(command))\n\n\(end)\n\n\(Self.fenced(result.content))\n\n"
    }

    /// A text between fences that it cannot close itself.
    private static func fenced(_ text: String) -> String {
        var (longest, run) = (0, 0)
        for byte in text.utf8 {
            run = byte == UInt8(ascii: "`") ? run + 1 : 0
            longest = max(longest, run)
        }
        let fence = String(repeating: "`", count: max(3, longest + 1))
        return "\(fence)\n\(text)\(text.hasSuffix("\n") || text.isEmpty ? "" : "\n")\(fence)"
    }
}

extension [Message] {
    /// The messages for a model: what the person ran is part of the message after it, and else a message of its own.
    public var withCommandsAsText: [Message] {
        var messages: [Message] = []
        var waiting: [Message.Part] = []
        func flush() {
            if !waiting.isEmpty { messages.append(Message(.user, waiting)) }
            waiting = []
        }
        for message in self {
            if let command = PersonCommand(message) {
                waiting.append(.text(command.words))
            } else if message.role == .user {
                messages.append(Message(.user, waiting + message.parts))
                waiting = []
            } else {
                flush()
                messages.append(message)
            }
        }
        flush()
        return messages
    }
}
