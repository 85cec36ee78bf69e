public import Capabilities
public import JSON
public import ModelKit

/// Writes an answer for a client of OpenAI's API: the data of server-sent events without names.
///
///     var writer = OpenAIWriter(id: "chatcmpl-1", created: 1_760_000_000, model: "a-model")
///     writer.write(.text("Hello"), into: &frames)
///     writer.end(answer, into: &frames)                       // the last frame is [DONE]
public struct OpenAIWriter: Sendable {
    let id: String
    /// Seconds since 1970.
    private let created: Int
    var model: String
    /// Whether a stream ends with the usage, as `stream_options` requests.
    public var includesUsage = false
    /// Whether server-side tools and the total usage have their own frames, marked by `object`. Clients of OpenAI's API
    /// do not expect those.
    public var isRich = false
    private var hasBegun = false
    private var calls = 0
    /// The part of a text chunk before its text.
    private var textHead: [UInt8] = []

    /// A writer for one answer. `created` is in seconds since 1970; `model` is used until a server names another.
    public init(id: String, created: Int, model: String) {
        self.id = id
        self.created = created
        self.model = model
    }

    /// Appends the chunks of an event to `frames`. Complete calls are written, but not pieces of them.
    public mutating func write(_ event: ChatEvent, into frames: inout [[UInt8]]) {
        switch event {
        case .began(let start):
            // The model may become known later. The following chunks then name it.
            if let model = start.model { self.model = model }
            if hasBegun { textHead = Self.textHead(head) }
            begin(&frames)
        case .text(let text): writeText(text, &frames)
        case .reasoning(let text): chunk(["reasoning_content": .string(text)], &frames)
        case .refusal(let text): chunk(["refusal": .string(text)], &frames)
        case .call(let call):
            isRich && call.isDone ? frame(call, &frames) : writeCall(call.id, call.name, call.input.text(), &frames)
        case .malformedCall(let call): writeCall(call.id, call.name, call.text, &frames)
        case .result(let result):
            if isRich { frame(result, &frames) }
        // A call is written once it is complete, and usage at the end.
        case .calling, .usage, .notice, .thought: break
        }
    }

    /// Writes the finish reason, the usage and the end.
    public mutating func end(_ answer: ChatAnswer, into frames: inout [[UInt8]]) {
        begin(&frames)
        chunk([:], finish: .string(answer.finishWord), isUnapproved: isRich && answer.isUnapproved, &frames)
        if let usage = answer.usage.openAI {
            if isRich { frame(usage, &frames) }
            if includesUsage {
                var last = head
                last["choices"] = []
                last["usage"] = .object(usage)
                append(last, &frames)
            }
        }
        frames.append(Array("[DONE]".utf8))
    }

    /// Writes an error after a stream has begun. Before that, an error is the response's body.
    public mutating func fail(_ refusal: ServerRefusal, into frames: inout [[UInt8]]) {
        append(OpenAIDialect.envelope(refusal), &frames)
        frames.append(Array("[DONE]".utf8))
    }

    // MARK: - Chunks

    var head: JSONObject {
        ["id": .string(id), "object": "chat.completion.chunk", "created": .int(created), "model": .string(model)]
    }

    private mutating func begin(_ frames: inout [[UInt8]]) {
        guard !hasBegun else { return }
        hasBegun = true
        textHead = Self.textHead(head)
        chunk(["role": "assistant", "content": ""], &frames)
    }

    private mutating func chunk(
        _ delta: JSONObject, finish: JSON = .null, isUnapproved: Bool = false, _ frames: inout [[UInt8]]
    ) {
        begin(&frames)
        var chunk = head
        chunk["choices"] = [["index": 0, "delta": .object(delta), "finish_reason": finish]]
        if isUnapproved { chunk["unapproved"] = true }
        append(chunk, &frames)
    }

    private mutating func writeCall(_ id: String, _ name: String, _ input: String, _ frames: inout [[UInt8]]) {
        let call: JSON = [
            "index": .int(calls), "id": .string(id), "type": "function",
            "function": ["name": .string(name), "arguments": .string(input)],
        ]
        calls += 1
        chunk(["tool_calls": [call]], &frames)
    }

    /// Most of a stream is text, so only the text itself is written for each event.
    private mutating func writeText(_ text: String, _ frames: inout [[UInt8]]) {
        begin(&frames)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(textHead.count + text.utf8.count + 40)
        bytes += textHead
        JSON.string(text).write(into: &bytes)
        bytes += #"},"finish_reason":null}]}"#.utf8
        frames.append(bytes)
    }

    private static func textHead(_ head: JSONObject) -> [UInt8] {
        var bytes: [UInt8] = []
        JSON.object(head).write(into: &bytes)
        bytes.removeLast()
        return bytes + #","choices":[{"index":0,"delta":{"content":"#.utf8
    }

    private func append(_ object: JSONObject, _ frames: inout [[UInt8]]) {
        var bytes: [UInt8] = []
        JSON.object(object).write(into: &bytes)
        frames.append(bytes)
    }

    // MARK: - Frames of their own

    private mutating func frame(_ call: ToolCall, _ frames: inout [[UInt8]]) {
        begin(&frames)
        append(
            ["object": "tool_use", "id": .string(call.id), "name": .string(call.name), "input": call.input], &frames)
        names[call.id] = call.name
    }

    private mutating func frame(_ result: ToolResult, _ frames: inout [[UInt8]]) {
        begin(&frames)
        var frame: JSONObject = ["object": "tool_result", "tool_id": .string(result.call)]
        frame["name"] = names.removeValue(forKey: result.call).map(JSON.string)
        frame["is_error"] = .bool(result.isError)
        frame["duration_ms"] = result.duration.map { .int(Int($0 / .milliseconds(1))) }
        frame["exit_code"] = result.exitCode.map(JSON.int)
        frame["content"] = .string(result.content)
        append(frame, &frames)
    }

    private func frame(_ usage: JSONObject, _ frames: inout [[UInt8]]) {
        var frame: JSONObject = ["object": "usage"]
        for (key, value) in usage { frame[key] = value }
        append(frame, &frames)
    }

    /// The names of the tools without a result yet.
    private var names: [String: String] = [:]
}

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
        // A refusal is a normal stop; its text says the rest.
        case .refused where message.parts.contains { if case .refusal = $0 { true } else { false } }: "stop"
        case .refused: "content_filter"
        // Clients know no other words.
        case .other: "stop"
        }
    }
}

extension Usage {
    /// Under OpenAI's names and those of gateways; nil if nothing is known.
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
