public import Capabilities
public import JSON

extension ResponsesWriter {
    /// What every form of the response has, and its clients demand.
    var head: JSONObject {
        [
            "id": .string(id), "object": "response", "created_at": .int(created), "model": .string(model),
            "error": .null, "incomplete_details": .null, "instructions": .null, "metadata": [:],
            "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "temperature": .null, "top_p": .null,
        ]
    }

    /// An answer that is not streamed.
    public func reply(_ answer: ChatAnswer) -> JSONObject {
        var output: [JSON] = []
        for part in answer.message.parts {
            guard let (kind, text) = Self.kind(of: part) else { continue }
            if case .reasoning(let reasoning) = part, let item = SealedReasoning.item(reasoning) {
                output.append(item)
            } else {
                let id = Self.itemID(kind, id, output.count)
                output.append(OutputItem(kind: kind, id: id, text: text).json(isDone: true))
            }
        }
        return response(answer, output: output)
    }

    private static func kind(of part: Message.Part) -> (OutputItem.Kind, String)? {
        switch part {
        case .text(let text): (.text, text)
        case .refusal(let text): (.refusal, text)
        case .reasoning(let reasoning): (.reasoning, reasoning.text)
        case .call(let call): call.isDone ? nil : (.call(id: call.id, name: call.name), call.input.text())
        case .malformedCall(let call): (.call(id: call.id, name: call.name), call.text)
        case .attachment, .result: nil
        }
    }

    func response(_ answer: ChatAnswer, output: [JSON]) -> JSONObject {
        var response = head
        response["model"] = .string(answer.start.model ?? model)
        response["status"] = "completed"
        if !answer.isWhole { response["status"] = "incomplete" }
        if let reason = answer.incompleteReason { response["incomplete_details"] = ["reason": .string(reason)] }
        response["output"] = .array(output)
        response["usage"] = answer.usage.responses
        return response
    }
}

extension ChatAnswer {
    fileprivate var isWhole: Bool {
        if case .other = finish { false } else { incompleteReason == nil }
    }

    /// Nil for an answer that is whole, and for a reason that clients have no word for.
    fileprivate var incompleteReason: String? {
        switch finish {
        case .stop, .calls: nil
        case .length: "max_output_tokens"
        // A model that refuses has said all that it will; its words say the rest.
        case .refused where message.parts.contains { if case .refusal = $0 { true } else { false } }: nil
        case .refused: "content_filter"
        case .other: nil
        }
    }
}

extension Usage {
    /// Null where nothing is known. Clients demand all of the numbers, so that zero stands for one that is not.
    fileprivate var responses: JSON {
        guard inputTokens != nil || outputTokens != nil else { return .null }
        let (read, written) = (inputTokens ?? 0, outputTokens ?? 0)
        return [
            "input_tokens": .int(read),
            "input_tokens_details": [
                "cached_tokens": .int(cachedTokens ?? 0), "cache_write_tokens": .int(cacheWriteTokens ?? 0),
            ],
            "output_tokens": .int(written),
            "output_tokens_details": ["reasoning_tokens": .int(reasoningTokens ?? 0)],
            "total_tokens": .int(read + written),
        ]
    }
}
