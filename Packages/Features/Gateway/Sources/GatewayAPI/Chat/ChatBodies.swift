import Capabilities
import JSON

/// The body of a chat completion: OpenAI's members and the gateway's own. Their shape is checked here; what they mean is
/// OpenAIDialect's business, and what it has no word for goes to the provider as it is, listed here or not.
struct CompletionBody: InputValue {
    let json: JSON

    init(json: JSON) {
        self.json = json
    }

    static let schema = Schema.record(
        [
            Schema.Property(
                "model", "PROVIDER/MODEL, or a model's name; the usual one when absent", .optional(.string)),
            Schema.Property(
                "messages", "The conversation, the oldest first", .array(message),
                keywords: BodySchemas.openAIMessages),
            Schema.Property(
                "conversation", "The same, where messages are folded into one for servers that forget",
                .optional(.array(message)), keywords: BodySchemas.openAIMessages),
            Schema.Property("stream", "Whether the answer is wanted as it comes into being", .optional(.boolean)),
            Schema.Property(
                "stream_options", "include_usage asks for what a stream took", .optional(.any),
                keywords: BodySchemas.streamOptions),
            Schema.Property(
                "tools", "Functions that the client runs itself", .optional(.array(.any)),
                keywords: BodySchemas.openAITools),
            Schema.Property(
                "response_format", "What the answer has to look like", .optional(.any),
                keywords: BodySchemas.openAIFormat),
            Schema.Property(
                "max_tokens", "How many tokens the answer may have", .optional(.integer(nil)), keywords: .counts),
            Schema.Property(
                "max_completion_tokens", "The newer name of max_tokens", .optional(.integer(nil)), keywords: .counts),
            Schema.Property("temperature", "How freely words are chosen", .optional(.number(nil))),
            Schema.Property("top_p", "Of how likely words it is chosen", .optional(.number(nil))),
            Schema.Property("stop", "Words that end the answer", .optional(.any), keywords: BodySchemas.stop),
            Schema.Property("seed", "For answers that can be repeated", .optional(.integer(nil)), keywords: .wholes),
            Schema.Property("n", "Only 1 is possible", .optional(.integer(nil)), keywords: ["const": 1]),
            Schema.Property("reasoning_effort", "How much to think", .optional(.string)),
            Schema.Property(
                "tool_choice", "Which function may or must be used", .optional(.any),
                keywords: BodySchemas.openAIToolChoice),
            Schema.Property("parallel_tool_calls", "Whether several may be called at once", .optional(.boolean)),
        ] + GatewayMembers.properties)

    private static let message = Schema.record([
        Schema.Property("role", "Who wrote it", .choice(["system", "developer", "user", "assistant", "tool"])),
        Schema.Property("content", "A text or a list of parts", .optional(.any)),
        Schema.Property("name", "Who exactly", .optional(.string)),
        Schema.Property("tool_calls", "Calls that the model asked for", .optional(.any)),
        Schema.Property("tool_call_id", "Which call a tool's message answers", .optional(.string)),
        Schema.Property("refusal", "Why the model did not answer", .optional(.string)),
        Schema.Property("reasoning_content", "What the model thought", .optional(.string)),
        Schema.Property("reasoning", "What the model thought, under another name", .optional(.any)),
    ])
}

extension JSONObject {
    /// Numbers of things, of which there is at least one.
    static var counts: JSONObject { ["minimum": 1, "maximum": .int(.max)] }
    /// Whole numbers as far as they are read.
    static var wholes: JSONObject { ["minimum": .int(.min), "maximum": .int(.max)] }
    /// What has to be there: a text or a list with something in it.
    static var content: JSONObject { ["type": ["string", "array"]] }
    /// A day by the calendar.
    static var day: JSONObject { ["format": "date"] }
    static var regularExpression: JSONObject { ["minLength": 1] }
    /// A path within a folder; an empty one is the folder itself.
    static var relativePath: JSONObject { ["pattern": #"^(?!/)(?!(.*/)?\.\.(/|$))[^\u0000]*$"#] }
    /// Any tag of a file.
    static var anyTag: JSONObject { ["enum": ["*"]] }
    /// A pattern for paths.
    static var glob: JSONObject { ["minLength": 1, "maxLength": 1000, "pattern": #"^[^\u0000]+$"#] }
}

/// The gateway's own members, which every kind of request may have.
enum GatewayMembers {
    static let properties = [
        Schema.Property("project_id", "Makes it an agent turn in this project's folder", .optional(.string)),
        Schema.Property("session_id", "Makes it an agent turn of this session, which remembers", .optional(.string)),
        Schema.Property("system_prompt", "What the model is told before anything else", .optional(.string)),
        Schema.Property("mcp", "Makes it an agent turn with these tools", .optional(ToolsBody.schema)),
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
                "model", "PROVIDER/MODEL, or a model's name; the usual one when absent", .optional(.string)),
            Schema.Property(
                "input", "A text, or a list of items", .any,
                keywords: BodySchemas.responsesInput),
            Schema.Property("instructions", "What the model is told before anything else", .optional(.string)),
            Schema.Property("stream", "Whether the answer is wanted as it comes into being", .optional(.boolean)),
            Schema.Property(
                "tools", "Functions that the client runs itself", .optional(.array(.any)),
                keywords: BodySchemas.responsesTools),
            Schema.Property(
                "text", "What the answer has to look like", .optional(.any), keywords: BodySchemas.responsesText),
            Schema.Property(
                "reasoning", "How much to think", .optional(.any), keywords: BodySchemas.responsesReasoning),
            Schema.Property(
                "max_output_tokens", "How many tokens the answer may have", .optional(.integer(nil)), keywords: .counts),
            Schema.Property("temperature", "How freely words are chosen", .optional(.number(nil))),
            Schema.Property("top_p", "Of how likely words it is chosen", .optional(.number(nil))),
            Schema.Property(
                "previous_response_id", "Not possible: nothing is kept", .optional(.string),
                keywords: ["type": "null"]),
            Schema.Property(
                "tool_choice", "Which function may or must be used", .optional(.any),
                keywords: BodySchemas.responsesToolChoice),
            Schema.Property("parallel_tool_calls", "Whether several may be called at once", .optional(.boolean)),
        ] + GatewayMembers.properties)
}

/// The body of Anthropic's `POST /v1/messages`, and of what counts its tokens.
struct MessagesBody: InputValue {
    let json: JSON

    init(json: JSON) {
        self.json = json
    }

    static let schema = Schema.record(
        [
            Schema.Property(
                "model", "PROVIDER/MODEL, or a model's name; the usual one when absent", .optional(.string)),
            Schema.Property(
                "messages", "The conversation, the oldest first", .array(message),
                keywords: BodySchemas.anthropicMessages),
            Schema.Property(
                "system", "What the model is told before anything else: a text or blocks", .optional(.any),
                keywords: BodySchemas.anthropicSystem),
            Schema.Property(
                "max_tokens", "How many tokens the answer may have", .optional(.integer(nil)), keywords: .counts),
            Schema.Property("stream", "Whether the answer is wanted as it comes into being", .optional(.boolean)),
            Schema.Property(
                "tools", "Tools that the client runs itself", .optional(.array(.any)),
                keywords: BodySchemas.anthropicTools),
            Schema.Property(
                "tool_choice", "Which of them is to be used", .optional(.any),
                keywords: BodySchemas.anthropicToolChoice),
            Schema.Property(
                "thinking", "How much to think", .optional(.any), keywords: BodySchemas.anthropicThinking),
            Schema.Property(
                "output_config", "What the answer has to look like", .optional(.any),
                keywords: BodySchemas.anthropicOutput),
            Schema.Property("temperature", "How freely words are chosen", .optional(.number(nil))),
            Schema.Property("top_p", "Of how likely words it is chosen", .optional(.number(nil))),
            Schema.Property("stop_sequences", "Words that end the answer", .optional(.array(.string))),
        ] + GatewayMembers.properties)

    private static let message = Schema.record([
        Schema.Property("role", "Who wrote it", .choice(["system", "user", "assistant"])),
        Schema.Property("content", "A text or a list of blocks", .any, keywords: .content),
    ])
}
