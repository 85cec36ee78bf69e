import Capabilities
import JSON

/// The body of a chat completion: OpenAI's members and the gateway's own. Their types are checked here. OpenAIDialect
/// interprets them, and members that it does not know go to the provider unchanged, listed here or not.
struct CompletionBody: InputValue {
    let json: JSON

    init(json: JSON) {
        self.json = json
    }

    static let schema = Schema.record(
        [
            Schema.Property(
                "model", "PROVIDER/MODEL, or a model's name; absent for the default model", .optional(.string)),
            Schema.Property(
                "messages", "The conversation, oldest message first", .array(message),
                keywords: BodySchemas.openAIMessages),
            Schema.Property(
                "conversation", "The conversation, if messages has it merged into one message",
                .optional(.array(message)), keywords: BodySchemas.openAIMessages),
            Schema.Property("stream", "Whether to stream the answer", .optional(.boolean)),
            Schema.Property(
                "stream_options", "include_usage adds the usage to a stream", .optional(.any),
                keywords: BodySchemas.streamOptions),
            Schema.Property(
                "tools", "Functions that the client runs itself", .optional(.array(.any)),
                keywords: BodySchemas.openAITools),
            Schema.Property(
                "response_format", "Format of the answer", .optional(.any),
                keywords: BodySchemas.openAIFormat),
            Schema.Property(
                "max_tokens", "Maximum tokens in the answer", .optional(.integer(nil)), keywords: .counts),
            Schema.Property(
                "max_completion_tokens", "The newer name of max_tokens", .optional(.integer(nil)), keywords: .counts),
            Schema.Property("temperature", "Sampling temperature", .optional(.number(nil))),
            Schema.Property("top_p", "Nucleus sampling threshold", .optional(.number(nil))),
            Schema.Property("stop", "Texts that end the answer", .optional(.any), keywords: BodySchemas.stop),
            Schema.Property("seed", "Seed for repeatable answers", .optional(.integer(nil)), keywords: .wholes),
            Schema.Property("n", "Must be 1", .optional(.integer(nil)), keywords: ["const": 1]),
            Schema.Property("reasoning_effort", "Reasoning effort", .optional(.string)),
            Schema.Property(
                "tool_choice", "Which function may or must be used", .optional(.any),
                keywords: BodySchemas.openAIToolChoice),
            Schema.Property("parallel_tool_calls", "Whether the model may call several at once", .optional(.boolean)),
        ] + GatewayMembers.properties)

    private static let message = Schema.record([
        Schema.Property("role", "Who wrote it", .choice(["system", "developer", "user", "assistant", "tool"])),
        Schema.Property("content", "A text or a list of parts", .optional(.any)),
        Schema.Property("name", "Name of the author", .optional(.string)),
        Schema.Property("tool_calls", "Calls that the model asked for", .optional(.any)),
        Schema.Property("tool_call_id", "Call that a tool's message answers", .optional(.string)),
        Schema.Property("refusal", "Why the model did not answer", .optional(.string)),
        Schema.Property("reasoning_content", "Reasoning of the model", .optional(.string)),
        Schema.Property("reasoning", "Reasoning of the model, under another name", .optional(.any)),
    ])
}

extension JSONObject {
    /// Positive whole numbers.
    static var counts: JSONObject { ["minimum": 1, "maximum": .int(.max)] }
    /// Whole numbers that fit 64 bits.
    static var wholes: JSONObject { ["minimum": .int(.min), "maximum": .int(.max)] }
    /// Required content: a text or a list.
    static var content: JSONObject { ["type": ["string", "array"]] }
    /// A calendar date.
    static var day: JSONObject { ["format": "date"] }
    static var regularExpression: JSONObject { ["minLength": 1] }
    /// A path inside a folder; an empty path is the folder itself.
    static var relativePath: JSONObject { ["pattern": #"^(?!/)(?!(.*/)?\.\.(/|$))[^\u0000]*$"#] }
    /// `*`, for any tag.
    static var anyTag: JSONObject { ["enum": ["*"]] }
    /// A pattern for paths.
    static var glob: JSONObject { ["minLength": 1, "maxLength": 1000, "pattern": #"^[^\u0000]+$"#] }
}

/// The gateway's own members, which any kind of request may have.
enum GatewayMembers {
    static let properties = [
        Schema.Property("project_id", "Project; makes this an agent turn in its folder", .optional(.string)),
        Schema.Property("session_id", "Session to continue; makes this an agent turn", .optional(.string)),
        Schema.Property("system_prompt", "Instructions for the model", .optional(.string)),
        Schema.Property("mcp", "Tools to use; makes this an agent turn", .optional(ToolsBody.schema)),
    ]
}

/// The body of OpenAI's `POST /v1/responses`.
struct ResponsesBody: InputValue {
    let json: JSON

    init(json: JSON) {
        self.json = json
    }

    static let schema = Schema.record(
        [
            Schema.Property(
                "model", "PROVIDER/MODEL, or a model's name; absent for the default model", .optional(.string)),
            Schema.Property(
                "input", "A text, or a list of items", .any,
                keywords: BodySchemas.responsesInput),
            Schema.Property("instructions", "Instructions for the model", .optional(.string)),
            Schema.Property("stream", "Whether to stream the answer", .optional(.boolean)),
            Schema.Property(
                "tools", "Functions that the client runs itself", .optional(.array(.any)),
                keywords: BodySchemas.responsesTools),
            Schema.Property(
                "text", "Format of the answer", .optional(.any), keywords: BodySchemas.responsesText),
            Schema.Property(
                "reasoning", "Reasoning effort", .optional(.any), keywords: BodySchemas.responsesReasoning),
            Schema.Property(
                "max_output_tokens", "Maximum tokens in the answer", .optional(.integer(nil)), keywords: .counts),
            Schema.Property("temperature", "Sampling temperature", .optional(.number(nil))),
            Schema.Property("top_p", "Nucleus sampling threshold", .optional(.number(nil))),
            Schema.Property(
                "previous_response_id", "Not supported, because responses are not stored", .optional(.string),
                keywords: ["type": "null"]),
            Schema.Property(
                "tool_choice", "Which function may or must be used", .optional(.any),
                keywords: BodySchemas.responsesToolChoice),
            Schema.Property("parallel_tool_calls", "Whether the model may call several at once", .optional(.boolean)),
        ] + GatewayMembers.properties)
}

/// The body of Anthropic's `POST /v1/messages` and `POST /v1/messages/count_tokens`.
struct MessagesBody: InputValue {
    let json: JSON

    init(json: JSON) {
        self.json = json
    }

    static let schema = Schema.record(
        [
            Schema.Property(
                "model", "PROVIDER/MODEL, or a model's name; absent for the default model", .optional(.string)),
            Schema.Property(
                "messages", "The conversation, oldest message first", .array(message),
                keywords: BodySchemas.anthropicMessages),
            Schema.Property(
                "system", "Instructions for the model, before all messages: a text or blocks", .optional(.any),
                keywords: BodySchemas.anthropicSystem),
            Schema.Property(
                "max_tokens", "Maximum tokens in the answer", .optional(.integer(nil)), keywords: .counts),
            Schema.Property("stream", "Whether to stream the answer", .optional(.boolean)),
            Schema.Property(
                "tools", "Tools that the client runs itself", .optional(.array(.any)),
                keywords: BodySchemas.anthropicTools),
            Schema.Property(
                "tool_choice", "Which tool may or must be used", .optional(.any),
                keywords: BodySchemas.anthropicToolChoice),
            Schema.Property(
                "thinking", "Reasoning effort", .optional(.any), keywords: BodySchemas.anthropicThinking),
            Schema.Property(
                "output_config", "Format of the answer", .optional(.any),
                keywords: BodySchemas.anthropicOutput),
            Schema.Property("temperature", "Sampling temperature", .optional(.number(nil))),
            Schema.Property("top_p", "Nucleus sampling threshold", .optional(.number(nil))),
            Schema.Property("stop_sequences", "Texts that end the answer", .optional(.array(.string))),
        ] + GatewayMembers.properties)

    private static let message = Schema.record([
        Schema.Property("role", "Who wrote it", .choice(["system", "user", "assistant"])),
        Schema.Property("content", "A text or a list of blocks", .any, keywords: .content),
    ])
}
