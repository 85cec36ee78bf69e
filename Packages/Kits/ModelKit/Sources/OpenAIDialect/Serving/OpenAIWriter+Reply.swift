public import Capabilities
public import JSON

extension OpenAIWriter {
    /// An answer that is not streamed.
    public func reply(_ answer: ChatAnswer) -> JSONObject {
        var message: JSONObject = ["role": "assistant"]
        var texts = (thoughts: "", refusal: "")
        var calls: [JSON] = []
        for part in answer.message.parts {
            switch part {
            case .reasoning(let reasoning): texts.thoughts += reasoning.text
            case .refusal(let words): texts.refusal += words
            case .call(let call): calls.append(Self.json(call.id, call.name, call.input.text()))
            case .malformedCall(let call): calls.append(Self.json(call.id, call.name, call.text))
            case .text, .attachment, .result: break
            }
        }
        let text = answer.message.text
        message["content"] = text.isEmpty && !(calls.isEmpty && texts.refusal.isEmpty) ? .null : .string(text)
        message["refusal"] = texts.refusal.isEmpty ? .null : .string(texts.refusal)
        if !texts.thoughts.isEmpty { message["reasoning_content"] = .string(texts.thoughts) }
        if !calls.isEmpty { message["tool_calls"] = .array(calls) }

        var reply = head
        reply["object"] = "chat.completion"
        reply["model"] = .string(answer.start.model ?? model)
        let choice: JSON = [
            "index": 0, "message": .object(message), "finish_reason": .string(answer.finishWord),
        ]
        reply["choices"] = [choice]
        reply["usage"] = answer.usage.openAI.map(JSON.object)
        reply["session_id"] = answer.start.session.map(JSON.string)
        reply["project_id"] = answer.start.project.map(JSON.string)
        if answer.isUnapproved { reply["unapproved"] = true }
        return reply
    }

    private static func json(_ id: String, _ name: String, _ input: String) -> JSON {
        let function: JSON = ["name": .string(name), "arguments": .string(input)]
        return ["id": .string(id), "type": "function", "function": function]
    }
}

extension ChatAnswer {
    var finishWord: String {
        switch finish {
        case .stop: "stop"
        case .length: "length"
        case .calls: "tool_calls"
        // A model that refuses has stopped by itself; its words say the rest.
        case .refused where message.parts.contains { if case .refusal = $0 { true } else { false } }: "stop"
        case .refused: "content_filter"
        // Clients know no other words.
        case .other: "stop"
        }
    }
}

extension Usage {
    /// Under OpenAI's names and those of gateways; nil where nothing is known.
    var openAI: JSONObject? {
        var usage: JSONObject = [:]
        for key in ["prompt_tokens", "input_tokens"] { usage[key] = inputTokens.map(JSON.int) }
        for key in ["completion_tokens", "output_tokens"] { usage[key] = outputTokens.map(JSON.int) }
        if let inputTokens, let outputTokens { usage["total_tokens"] = .int(inputTokens + outputTokens) }
        var read: JSONObject = [:]
        read["cached_tokens"] = cachedTokens.map(JSON.int)
        read["cache_write_tokens"] = cacheWriteTokens.map(JSON.int)
        if !read.isEmpty { usage["prompt_tokens_details"] = .object(read) }
        if let reasoningTokens { usage["completion_tokens_details"] = ["reasoning_tokens": .int(reasoningTokens)] }
        usage["total_cost"] = cost?.json
        return usage.isEmpty ? nil : usage
    }
}
