public import Capabilities
public import JSON
public import ModelKit

extension AnthropicDialect {
    public func body(of request: ChatRequest) throws(DialectError) -> JSONObject {
        if let body = request.native?.body, request.native?.dialect == Self.kind, !body.isEmpty {
            return passed(body, of: request)
        }
        let limit = request.options.maxTokens ?? options.maxTokens ?? ClaudeModel(request.model).maxTokens
        var body: JSONObject = ["model": .string(request.model), "max_tokens": .int(limit)]
        var conversation = try Conversation(request.messages)
        if options.marksCache { conversation.markCache() }
        if !conversation.system.isEmpty { body["system"] = .array(conversation.system) }
        guard !conversation.turns.isEmpty else {
            throw DialectError(.unsupported, "the conversation has nothing in it to answer; say something")
        }
        body["messages"] = .array(conversation.turns.map(\.json))
        if request.streams { body["stream"] = true }
        try writeTools(of: request, into: &body)
        try write(request.options, into: &body)
        try writeEffort(of: request, within: limit, into: &body)
        if request.mayCarryExtras(to: Self.kind) { for (key, value) in request.extras { body[key] = value } }
        return body
    }

    /// What a client wrote in this dialect itself: its cache marks, budgets and betas are its own.
    private func passed(_ body: JSONObject, of request: ChatRequest) -> JSONObject {
        var body = body
        let limit = request.options.maxTokens ?? options.maxTokens ?? ClaudeModel(request.model).maxTokens
        body["model"] = .string(request.model)
        body["max_tokens"] = .int(limit)
        body["stream"] = request.streams ? true : nil
        return body
    }

    private func write(_ options: ModelOptions, into body: inout JSONObject) throws(DialectError) {
        if let temperature = options.temperature {
            guard options.effort == nil, options.thinking?.isOn != true else {
                throw .untaken("temperature where it is asked to think")
            }
            guard temperature <= 1 else { throw .untaken("temperature above 1") }
            body["temperature"] = .double(temperature)
        }
        if let share = options.topP { body["top_p"] = .double(share) }
        if !options.stop.isEmpty { body["stop_sequences"] = .array(options.stop.map(JSON.string)) }
        guard options.seed == nil else { throw .untaken("seed") }
    }

    // MARK: - Tools and schemas

    private func writeTools(of request: ChatRequest, into body: inout JSONObject) throws(DialectError) {
        var tools = request.tools.map { tool -> JSONObject in
            ["name": .string(tool.name), "description": .string(tool.summary), "input_schema": tool.input]
        }
        if let schema = request.schema {
            // A model that thinks cannot be forced to call a tool.
            if options.schemaWay == .format || request.options.effort != nil || request.options.thinking?.isOn == true {
                body["output_config"] = ["format": ["type": "json_schema", "schema": schema.schema]]
            } else {
                guard !request.tools.contains(where: { $0.name == AnswerTool.name }) else {
                    throw .untaken("tool called \(AnswerTool.name) beside a schema of the answer")
                }
                // With other tools it may call those first.
                body["tool_choice"] =
                    tools.isEmpty || request.toolChoice == .never
                    ? ["type": "tool", "name": .string(AnswerTool.name)] : ["type": "any"]
                tools.append(AnswerTool.json(schema))
            }
        }
        guard !tools.isEmpty else { return }
        writeChoice(of: request, into: &body)
        if options.marksCache { tools[tools.count - 1].markCache() }
        body["tools"] = .array(tools.map(JSON.object))
    }

    private func writeChoice(of request: ChatRequest, into body: inout JSONObject) {
        guard !request.tools.isEmpty else { return }
        var choice = body["tool_choice"]?.object
        switch request.toolChoice {
        // A schema is followed by calling its tool, which the model does when it has called the others.
        case .auto, .never, .required: choice = choice ?? request.toolChoice.map { ["type": .string($0.anthropicWord)] }
        case .tool(let name): choice = ["type": "tool", "name": .string(name)]
        case nil: break
        }
        if let parallel = request.parallelCalls, request.toolChoice != .never {
            if choice != nil || !parallel {
                choice = choice ?? ["type": "auto"]
                choice?["disable_parallel_tool_use"] = .bool(!parallel)
            }
        }
        if let choice { body["tool_choice"] = .object(choice) }
    }

    // MARK: - Thinking

    private func writeEffort(
        of request: ChatRequest, within limit: Int, into body: inout JSONObject
    ) throws(DialectError) {
        switch request.options.thinking {
        case .off: body["thinking"] = ["type": "disabled"]
        case .adaptive: body["thinking"] = ["type": "adaptive", "display": "summarized"]
        case .tokens(let budget): body["thinking"] = ["type": "enabled", "budget_tokens": .int(budget)]
        case nil: break
        }
        guard request.options.thinking == nil, let effort = request.options.effort else { return }
        switch options.thinking ?? ClaudeModel(request.model).thinking {
        case .none: throw .untaken("effort of thinking for \(PlainText.excerpt(request.model))")
        case .adaptive:
            // Newer models keep their thoughts to themselves unless they are asked for them.
            body["thinking"] = ["type": "adaptive", "display": "summarized"]
            var output = body["output_config"]?.object ?? [:]
            output["effort"] = .string(effort == .minimal ? "low" : effort.rawValue)
            body["output_config"] = .object(output)
        case .budget:
            // The thoughts count as part of the answer, of which half is left for the rest.
            let budget = min(Self.budget(for: effort), limit / 2)
            guard budget >= 1024 else {
                throw DialectError(
                    .unsupported,
                    "an answer of at most \(limit) tokens leaves no room to think; allow 2048 or ask for no effort")
            }
            body["thinking"] = ["type": "enabled", "budget_tokens": .int(budget)]
        }
    }

    private static func budget(for effort: ModelOptions.Effort) -> Int {
        switch effort {
        case .minimal: 1024
        case .low: 4096
        case .medium: 10_240
        case .high: 24_576
        }
    }
}

extension ToolChoice {
    fileprivate var anthropicWord: String {
        switch self {
        case .auto: "auto"
        case .never: "none"
        case .required: "any"
        case .tool: "tool"
        }
    }
}

extension ModelOptions.Thinking {
    fileprivate var isOn: Bool { self != .off }
}
