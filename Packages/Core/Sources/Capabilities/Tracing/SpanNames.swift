// The names of attributes that more than one package uses. Those of OpenTelemetry where it has one; ours begin with `martlet`.

extension SpanKey {
    /// The method of a request.
    public static var httpMethod: SpanKey { "http.request.method" }
    /// The template of the address that answers, without values.
    public static var httpRoute: SpanKey { "http.route" }
    /// The status of an answer.
    public static var httpStatus: SpanKey { "http.response.status_code" }
    /// The template of the address that is asked, without values.
    public static var urlTemplate: SpanKey { "url.template" }
    /// `http` or `https`.
    public static var urlScheme: SpanKey { "url.scheme" }
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
    /// Seconds until a model began to answer.
    public static var genAIFirstChunk: SpanKey { "gen_ai.response.time_to_first_chunk" }
    /// The number of the message of a conversation that an answer is.
    public static var message: SpanKey { "martlet.message.id" }
    /// The id of a request, which its answer has too.
    public static var requestID: SpanKey { "martlet.request.id" }
    /// How many events a stream had.
    public static var streamEvents: SpanKey { "martlet.stream.events" }
    /// The file name of a program that was started, without its folder and its arguments.
    public static var processName: SpanKey { "process.executable.name" }
    /// The number of a process.
    public static var processID: SpanKey { "process.pid" }
    /// The exit code of a process; 128 and the number of the signal that ended it.
    public static var processExitCode: SpanKey { "process.exit.code" }
    /// The end of what a program has written to its standard error.
    public static var processMessages: SpanKey { "martlet.process.stderr" }
    /// The kind of a database.
    public static var databaseSystem: SpanKey { "db.system.name" }
    /// The file name of a database.
    public static var databaseName: SpanKey { "db.namespace" }
    /// The name of a bundle.
    public static var pipelineName: SpanKey { "cicd.pipeline.name" }
    /// The id of a run of a bundle.
    public static var pipelineRun: SpanKey { "cicd.pipeline.run.id" }
    /// How a run of a bundle ended.
    public static var pipelineResult: SpanKey { "cicd.pipeline.result" }
    /// The key of a step.
    public static var taskName: SpanKey { "cicd.pipeline.task.name" }
    /// How a step ended.
    public static var taskResult: SpanKey { "cicd.pipeline.task.run.result" }
    /// The outcome of a decision, or the rule behind it. It never holds a secret or an answer.
    public static var decision: SpanKey { "martlet.decision" }
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
