import Capabilities
import GatewayTurns
import JSON

/// The schema of a chat completion, for the OpenAPI document. OpenAIWriter writes it.
enum CompletionReply: Shaped {
    static let schema = Schema.record([
        Schema.Property("id", "Id of the answer", .string),
        Schema.Property("object", "Always chat.completion", .string),
        Schema.Property("created", "Time, in seconds since 1970", .integer(nil)),
        Schema.Property("model", "Model that answered", .string),
        Schema.Property("choices", "The answer; always one", .array(choice)),
        Schema.Property("usage", "Tokens used, under OpenAI's and gateways' names", .optional(.map(.any))),
        Schema.Property("session_id", "Session of an agent turn", .optional(.string)),
        Schema.Property("project_id", "Project of an agent turn", .optional(.string)),
        Schema.Property(
            "unapproved", "true if a tool call was denied because no one could approve it", .optional(.boolean)),
        Schema.Property("timeline", "Tool calls and results, in the rich dialect", .optional(.array(.any))),
        Schema.Property("warning", "A problem that does not affect the answer: code, message", .optional(.map(.any))),
    ])

    private static let choice = Schema.record([
        Schema.Property("index", "Always 0", .integer(nil)),
        Schema.Property("message", "The model's message: role, content, refusal, tool_calls", .map(.any)),
        Schema.Property("finish_reason", "Why the answer ended", .string),
    ])
}

/// The schema of an answer of Anthropic's messages, for the OpenAPI document.
enum MessagesReply: Shaped {
    static let schema = Schema.record([
        Schema.Property("id", "Id of the answer", .string),
        Schema.Property("type", "Always message", .string),
        Schema.Property("role", "Always assistant", .string),
        Schema.Property("model", "Model that answered", .string),
        Schema.Property("content", "Blocks of text, thinking and tool_use", .array(.any)),
        Schema.Property("stop_reason", "Why the answer ended", .string),
        Schema.Property("stop_sequence", "Always null", .any),
        Schema.Property("usage", "Tokens used", .map(.any)),
    ])
}

/// The schema of a response, for the OpenAPI document.
enum ResponsesReply: Shaped {
    static let schema = Schema.map(.any)
}

/// The estimated number of tokens of a request.
struct TokenCount: Record {
    let tokens: Int

    static let fields: [Field<TokenCount>] = [
        Field("input_tokens", "Estimated number of input tokens; models count differently") { $0.tokens }
    ]
}

/// Confirms that a turn was stopped.
struct StopReply: Record {
    let session: String
    let wasRunning: Bool

    static let fields: [Field<StopReply>] = [
        Field("session_id", "The session, which can still be used") { $0.session },
        Field("status", "stopped, or idle if nothing was running", .state) { $0.wasRunning ? "stopped" : "idle" },
    ]
}

/// How the gateway interprets a request.
struct DebugReply: Record {
    let asked: GatewayRequest
    /// The model that would answer.
    let model: String?

    private var chat: ChatRequest { asked.input.chat }

    static let fields: [Field<DebugReply>] = [
        Field("kind", "agent turn or completion") { $0.asked.isAgent ? "agent turn" : "completion" },
        Field("dialect", "rich or plain") { $0.asked.isRich ? "rich" : "plain" },
        Field("stream", "Whether it would be streamed") { $0.asked.streams },
        Field("requested_model", "Model as named in the request") { $0.asked.model },
        Field("model", "Model that would answer; absent if there is no such model") { $0.model },
        Field("project_id", "The project") { $0.asked.input.project },
        Field("session_id", "The session") { $0.asked.input.session },
        Field("system_prompt", "Instructions for the model") { $0.asked.input.systemPrompt },
        Field("messages", "The conversation") { reply in
            reply.chat.messages.map { message -> JSON in
                ["role": message.role.json, "text": .string(message.text), "parts": .int(message.parts.count)]
            }
        },
        Field("tools", "The client's own tools") { $0.chat.tools.map(\.name) },
        Field("tool_choice", "Which tool may or must be used") { $0.chat.toolChoice?.word },
        Field("max_tokens", "Maximum tokens in the answer") { $0.chat.options.maxTokens },
        Field("temperature", "Sampling temperature") { $0.chat.options.temperature },
        Field("top_p", "Nucleus sampling threshold") { $0.chat.options.topP },
        Field("passed_on", "Members passed to the provider unchanged") { JSON.object($0.chat.extras) },
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
