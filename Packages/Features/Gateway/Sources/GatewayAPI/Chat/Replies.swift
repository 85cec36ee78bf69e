import Capabilities

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
