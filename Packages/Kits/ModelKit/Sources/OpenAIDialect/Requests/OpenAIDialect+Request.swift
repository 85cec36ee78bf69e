public import Capabilities
public import JSON
public import ModelKit

extension OpenAIDialect {
    public func body(of request: ChatRequest) throws(DialectError) -> JSONObject {
        var body: JSONObject = [:]
        // A gateway has a model of its own choice.
        if !request.model.isEmpty { body["model"] = .string(request.model) }
        var messages = MessageWriter(quirks, model: request.model)
        body["messages"] = .array(try messages.write(request.messages))
        if quirks.foldsHistory, request.messages.count > 1 {
            // The same as it is, for a gateway that remembers; one that forgets passes over it.
            var plain = quirks
            plain.foldsHistory = false
            var conversation = MessageWriter(plain, model: request.model)
            body["conversation"] = .array(try conversation.write(request.messages))
        }
        if request.streams {
            body["stream"] = true
            if quirks.asksForUsage { body["stream_options"] = ["include_usage": true] }
        }
        if !request.tools.isEmpty {
            try require(.tools, "tools")
            body["tools"] = .array(request.tools.map(Self.json))
            body["tool_choice"] = request.toolChoice.map(Self.json)
            body["parallel_tool_calls"] = request.parallelCalls.map(JSON.bool)
        }
        try write(request.options, for: request.model, into: &body)
        if let schema = request.schema {
            try require(.schema, "schema of the answer")
            // Servers that know no schemas know this word.
            body["response_format"] =
                schema == .anyObject
                ? ["type": "json_object"] : ["type": "json_schema", "json_schema": Self.json(schema)]
        }
        if request.mayCarryExtras(to: Self.kind) { for (key, value) in request.extras { body[key] = value } }
        return body
    }

    private func write(
        _ options: ModelOptions, for model: String, into body: inout JSONObject
    ) throws(DialectError) {
        if let temperature = options.temperature { body["temperature"] = .double(temperature) }
        if let share = options.topP { body["top_p"] = .double(share) }
        if let limit = options.maxTokens { body[quirks.limitName(for: model)] = .int(limit) }
        if !options.stop.isEmpty { body["stop"] = .array(options.stop.map(JSON.string)) }
        if let seed = options.seed {
            try require(.seed, "seed")
            body["seed"] = .int(seed)
        }
        if let effort = options.effort {
            try require(.effort, "effort of thinking")
            let word = JSON.string(effort.rawValue)
            if quirks.nestsEffort { body["reasoning"] = ["effort": word] } else { body["reasoning_effort"] = word }
        }
    }

    private func require(_ feature: OpenAIQuirks.Feature, _ name: String) throws(DialectError) {
        if quirks.lacks.contains(feature) { throw .untaken(name) }
    }

    private static func json(_ choice: ToolChoice) -> JSON {
        switch choice {
        case .auto: "auto"
        case .never: "none"
        case .required: "required"
        case .tool(let name): ["type": "function", "function": ["name": .string(name)]]
        }
    }

    private static func json(_ tool: ToolDescription) -> JSON {
        let function: JSON = [
            "name": .string(tool.name), "description": .string(tool.summary), "parameters": tool.input,
        ]
        return ["type": "function", "function": function]
    }

    private static func json(_ schema: AnswerSchema) -> JSON {
        ["name": .string(schema.name), "schema": schema.schema, "strict": .bool(StrictSchema.admits(schema.schema))]
    }
}
