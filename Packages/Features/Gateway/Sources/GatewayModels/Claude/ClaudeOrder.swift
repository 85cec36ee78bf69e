import AnthropicDialect
import Capabilities
import JSON
import ModelKit
import ProcessKit

/// What the command is started with and told.
struct ClaudeOrder {
    /// The id of the request that begins the talk.
    static let startID = "martlet-start"

    let arguments: [String]
    let folder: String
    let resume: String?
    /// Not among the arguments, which any process can read.
    private let systemPrompt: String
    /// The blocks of the person's message.
    private let content: JSON

    init(_ request: ChatRequest, in folder: String, resume: String?) {
        self.folder = folder
        self.resume = resume
        var arguments = [
            "-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose",
            "--include-partial-messages", "--permission-prompt-tool", "stdio",
            // A project's settings and servers name programs, which the command would start without asking anybody.
            "--setting-sources", "user", "--strict-mcp-config",
            // Whatever the user's own settings say, it asks us.
            "--permission-mode", "default",
        ]
        if !request.model.isEmpty, request.model != "default" { arguments += ["--model=\(request.model)"] }
        if let resume { arguments += ["--resume=\(resume)"] }
        self.arguments = arguments
        systemPrompt = request.messages.filter { $0.role == .system }.map(\.text).joined(separator: "\n\n")
        var blocks: [JSON] = []
        let last = request.messages.lastIndex { $0.role == .user }
        // A session that goes on knows what was said before.
        if resume == nil, let last { blocks += Self.history(request.messages[..<last]) }
        if let last { blocks += Self.blocks(of: request.messages[last]) }
        content = .array(blocks)
    }

    func command(_ program: String, _ environment: CommandEnvironment) -> Command {
        var command = Command(program, arguments, environment: environment, workingDirectory: folder)
        command.input = .pipe
        // The end of its input would only end it after its turn, in which it may do much that nobody watches.
        command.endsWithParent = true
        return command
    }

    /// The first thing that it is told: it asks us about every call, also those that it would do without a question.
    var start: JSON {
        var request: JSONObject = [
            "subtype": "initialize", "hooks": ["PreToolUse": [["hookCallbackIds": ["martlet"]]]],
        ]
        if !systemPrompt.isEmpty { request["appendSystemPrompt"] = .string(systemPrompt) }
        return ["type": "control_request", "request_id": .string(Self.startID), "request": .object(request)]
    }

    var message: JSON {
        [
            "type": "user", "message": ["role": "user", "content": content], "parent_tool_use_id": nil,
            "session_id": .string(resume ?? ""),
        ]
    }

    private static func history(_ messages: ArraySlice<Message>) -> [JSON] {
        let said = messages.compactMap { message -> String? in
            guard message.role == .user || message.role == .assistant, !message.text.isEmpty else { return nil }
            return (message.role == .user ? "User: " : "Assistant: ") + message.text
        }
        guard !said.isEmpty else { return [] }
        return [text("Earlier in this conversation:\n\n" + said.joined(separator: "\n\n") + "\n\nNow the user says:")]
    }

    private static func blocks(of message: Message) -> [JSON] {
        let request = ChatRequest(model: "claude", messages: [Message(.user, message.parts)])
        do {
            let blocks = try AnthropicDialect().body(of: request)["messages"]?[0]?["content"]?.array ?? []
            return blocks.map { block in
                // Where to mark the cache is the command's own affair.
                guard case .object(var members) = block else { return block }
                members["cache_control"] = nil
                return .object(members)
            }
        } catch {
            return [text("\(message.text)\n\n[An attachment is left out: \(error.message)]")]
        }
    }

    private static func text(_ text: String) -> JSON { ["type": "text", "text": .string(text)] }
}
