// The names of attributes that more than one package uses. Those of OpenTelemetry where it has one; ours begin with `martlet`.

extension SpanKey {
    /// The method of a request.
    public static var httpMethod: SpanKey { "http.request.method" }
    /// The template of the address that answers, without values.
    public static var httpRoute: SpanKey { "http.route" }
    /// The status of an answer.
    public static var httpStatus: SpanKey { "http.response.status_code" }
    /// The name or address of a server.
    public static var serverAddress: SpanKey { "server.address" }
    /// The port of a server.
    public static var serverPort: SpanKey { "server.port" }
    /// The kind of work of a model: `chat`, `execute_tool`.
    public static var genAIOperation: SpanKey { "gen_ai.operation.name" }
    /// Who runs a model.
    public static var genAIProvider: SpanKey { "gen_ai.provider.name" }
    /// The model that was asked for.
    public static var genAIModel: SpanKey { "gen_ai.request.model" }
    /// The conversation that an answer belongs to.
    public static var genAIConversation: SpanKey { "gen_ai.conversation.id" }
    /// The tool of a call.
    public static var genAITool: SpanKey { "gen_ai.tool.name" }
    /// The id of a call.
    public static var genAICall: SpanKey { "gen_ai.tool.call.id" }
}

extension ActiveSpan {
    /// Says what a model used, as far as it is known.
    public func set(_ usage: Usage) {
        set("gen_ai.usage.input_tokens", usage.inputTokens.map(SpanValue.int))
        set("gen_ai.usage.output_tokens", usage.outputTokens.map(SpanValue.int))
        set("gen_ai.usage.cache_read.input_tokens", usage.cachedTokens.map(SpanValue.int))
        set("gen_ai.usage.cache_creation.input_tokens", usage.cacheWriteTokens.map(SpanValue.int))
        set("gen_ai.usage.reasoning.output_tokens", usage.reasoningTokens.map(SpanValue.int))
        set("martlet.cost_usd", usage.cost.map { .double(Double($0.nanodollars) / 1e9) })
    }
}
