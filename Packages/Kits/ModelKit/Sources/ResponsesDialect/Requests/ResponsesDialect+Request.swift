public import Capabilities
public import JSON
public import ModelKit

extension ResponsesDialect {
    public func body(of request: ChatRequest) throws(DialectError) -> JSONObject {
        var body: JSONObject = ["model": .string(request.model), "store": false]
        let system = request.messages.filter { $0.role == .system }
        for message in system where message.parts.contains(where: { if case .text = $0 { false } else { true } }) {
            throw .untaken("other than text in a message of the role system")
        }
        let instructions = system.map(\.text).filter { !$0.isEmpty }
        if !instructions.isEmpty { body["instructions"] = .string(instructions.joined(separator: "\n\n")) }
        body["input"] = .array(try InputItems.json(request.messages.filter { $0.role != .system }))
        if request.streams { body["stream"] = true }
        if !request.tools.isEmpty { body["tools"] = .array(request.tools.map(Self.json)) }
        if let schema = request.schema { body["text"] = ["format": Self.json(schema)] }
        try write(request.options, into: &body)
        if options.returnsReasoning(request.model) { body["include"] = ["reasoning.encrypted_content"] }
        for (key, value) in request.extras { body[key] = value }
        return body
    }

    private func write(_ options: ModelOptions, into body: inout JSONObject) throws(DialectError) {
        if let temperature = options.temperature { body["temperature"] = .double(temperature) }
        if let share = options.topP { body["top_p"] = .double(share) }
        if let limit = options.maxTokens { body["max_output_tokens"] = .int(limit) }
        guard options.stop.isEmpty else { throw .untaken("words to stop at") }
        guard options.seed == nil else { throw .untaken("seed") }
        if let effort = options.effort {
            var reasoning: JSONObject = ["effort": .string(effort.rawValue)]
            if self.options.wantsSummaries { reasoning["summary"] = "auto" }
            body["reasoning"] = .object(reasoning)
        }
    }

    private static func json(_ tool: ToolDescription) -> JSON {
        // Without a word the server would be strict, and refuse what cannot be.
        [
            "type": "function", "name": .string(tool.name), "description": .string(tool.summary),
            "parameters": tool.input, "strict": false,
        ]
    }

    private static func json(_ schema: AnswerSchema) -> JSON {
        [
            "type": "json_schema", "name": .string(schema.name), "schema": schema.schema,
            "strict": .bool(StrictSchema.admits(schema.schema)),
        ]
    }
}
