import Capabilities
import GatewayTurns
import JSON

/// How a request was understood.
struct DebugReply: Record {
    let asked: Asked
    /// The model that it would be given to.
    let model: String?

    private var chat: ChatRequest { asked.input.chat }

    static let fields: [Field<DebugReply>] = [
        Field("kind", "agent turn or completion") { $0.asked.isAgent ? "agent turn" : "completion" },
        Field("dialect", "rich or plain") { $0.asked.isRich ? "rich" : "plain" },
        Field("stream", "Whether it would be streamed") { $0.asked.streams },
        Field("requested_model", "The model as it was named") { $0.asked.model },
        Field("model", "The model that would answer; absent when there is none of that name") { $0.model },
        Field("project_id", "The project") { $0.asked.input.project },
        Field("session_id", "The session") { $0.asked.input.session },
        Field("system_prompt", "What the model is told before anything else") { $0.asked.input.systemPrompt },
        Field("messages", "The conversation") { reply in
            reply.chat.messages.map { message -> JSON in
                ["role": message.role.json, "text": .string(message.text), "parts": .int(message.parts.count)]
            }
        },
        Field("tools", "The client's own tools") { $0.chat.tools.map(\.name) },
        Field("tool_choice", "Which of them may or must be used") { $0.chat.toolChoice?.word },
        Field("max_tokens", "How many tokens the answer may have") { $0.chat.options.maxTokens },
        Field("temperature", "How freely words are chosen") { $0.chat.options.temperature },
        Field("top_p", "Of how likely words it is chosen") { $0.chat.options.topP },
        Field("passed_on", "What goes to the provider as it is") { JSON.object($0.chat.extras) },
    ]
}

extension ToolChoice {
    fileprivate var word: String {
        switch self {
        case .auto: "auto"
        case .never: "none"
        case .required: "required"
        case .tool(let name): "tool \(name)"
        }
    }
}
