import Capabilities
import GatewayTurns
import JSON

/// The shape of a chat completion, for documents; OpenAIWriter makes it.
enum CompletionReply: Shaped {
    static let schema = Schema.record([
        Schema.Property("id", "Its id", .string),
        Schema.Property("object", "Always chat.completion", .string),
        Schema.Property("created", "When, in seconds since 1970", .integer(nil)),
        Schema.Property("model", "The model that really answered", .string),
        Schema.Property("choices", "The one answer", .array(choice)),
        Schema.Property("usage", "What it took, under both names", .optional(.map(.any))),
        Schema.Property("session_id", "The session of an agent turn", .optional(.string)),
        Schema.Property("project_id", "Its project", .optional(.string)),
        Schema.Property(
            "unapproved", "true where a tool was not used because nobody was there to allow it", .optional(.boolean)),
        Schema.Property("timeline", "The tools that ran, in the rich dialect", .optional(.array(.any))),
        Schema.Property("warning", "What went wrong without touching the answer: code, message", .optional(.map(.any))),
    ])

    private static let choice = Schema.record([
        Schema.Property("index", "Always 0", .integer(nil)),
        Schema.Property("message", "What the model said: role, content, refusal, tool_calls", .map(.any)),
        Schema.Property("finish_reason", "Why it stopped", .string),
    ])
}

/// The shape of an answer of Anthropic's messages, for documents.
enum MessagesReply: Shaped {
    static let schema = Schema.record([
        Schema.Property("id", "Its id", .string),
        Schema.Property("type", "Always message", .string),
        Schema.Property("role", "Always assistant", .string),
        Schema.Property("model", "The model that really answered", .string),
        Schema.Property("content", "Blocks of text, thinking and tool_use", .array(.any)),
        Schema.Property("stop_reason", "Why it stopped", .string),
        Schema.Property("stop_sequence", "Always null", .any),
        Schema.Property("usage", "What it took", .map(.any)),
    ])
}

/// The shape of a response, for documents.
enum ResponsesReply: Shaped {
    static let schema = Schema.map(.any)
}

/// How many tokens a request would take.
struct TokenCount: Record {
    let tokens: Int

    static let fields: [Field<TokenCount>] = [
        Field("input_tokens", "An estimate, as every model counts in its own way") { $0.tokens }
    ]
}

/// That a turn was stopped.
struct StopReply: Record {
    let session: String
    let wasRunning: Bool

    static let fields: [Field<StopReply>] = [
        Field("session_id", "The session, which can be used on") { $0.session },
        Field("status", "stopped, or idle when nothing was running", .state) { $0.wasRunning ? "stopped" : "idle" },
    ]
}

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
