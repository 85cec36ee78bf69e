public import Capabilities
public import JSON

extension AnthropicWriter {
    var head: JSONObject {
        ["id": .string(id), "type": "message", "role": "assistant", "model": .string(model)]
    }

    /// An answer that is not streamed.
    public func reply(_ answer: ChatAnswer) -> JSONObject {
        var reply = head
        reply["model"] = .string(answer.start.model ?? model)
        var tools = ServerTools()
        reply["content"] = .array(answer.message.parts.compactMap { tools.block($0) ?? Self.json($0) }.map(JSON.object))
        reply["stop_reason"] = .string(answer.anthropicReason)
        reply["stop_sequence"] = answer.stopWord.map(JSON.string) ?? .null
        reply["usage"] = .object(answer.usage.anthropic)
        return reply
    }

    private static func json(_ part: Message.Part) -> JSONObject? {
        switch part {
        case .text(let text), .refusal(let text): ["type": "text", "text": .string(text)]
        case .reasoning(let reasoning): json(reasoning)
        case .call(let call): call.isDone ? nil : json(call.id, call.name, call.input)
        case .malformedCall(let call): json(call.id, call.name, ["invalid_json": .string(call.text)])
        case .attachment, .result: nil
        }
    }

    private static func json(_ reasoning: Reasoning) -> JSONObject {
        if reasoning.text.isEmpty, let sealed = reasoning.sealed {
            return ["type": "redacted_thinking", "data": .string(sealed)]
        }
        let signature = JSON.string(reasoning.signature ?? "")
        return ["type": "thinking", "thinking": .string(reasoning.text), "signature": signature]
    }

    private static func json(_ id: String, _ name: String, _ input: JSON) -> JSONObject {
        ["type": "tool_use", "id": .string(id), "name": .string(name), "input": input]
    }
}

extension ChatAnswer {
    var anthropicReason: String {
        switch finish {
        case .stop: stopWord == nil ? "end_turn" : "stop_sequence"
        case .length: "max_tokens"
        case .calls: "tool_use"
        case .refused: "refusal"
        // Clients know these words, and fail at others.
        case .other(let word):
            ["pause_turn", "stop_sequence", "model_context_window_exceeded"].contains(word) ? word : "end_turn"
        }
    }
}

extension Usage {
    /// Anthropic counts what concerns the cache apart from the rest of the input. Its clients demand both numbers, so
    /// that zero stands for what is not known.
    var anthropic: JSONObject {
        let cache = (cachedTokens ?? 0) + (cacheWriteTokens ?? 0)
        var usage: JSONObject = [
            "input_tokens": .int(max(0, (inputTokens ?? 0) - cache)), "output_tokens": .int(outputTokens ?? 0),
        ]
        usage["cache_creation_input_tokens"] = cacheWriteTokens.map(JSON.int)
        usage["cache_read_input_tokens"] = cachedTokens.map(JSON.int)
        usage["output_tokens_details"] = reasoningTokens.map { ["thinking_tokens": .int($0)] }
        return usage
    }
}
