import Capabilities
import JSON

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
