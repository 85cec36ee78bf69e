public import Capabilities
public import JSON
public import ModelKit

/// Writes an answer for a client of Anthropic's API. Every event has a name, because its clients ignore events without
/// one.
///
///     var writer = AnthropicWriter(id: "msg_1", model: "a-model")
///     writer.write(.text("Hello"), into: &frames)
///     writer.end(answer, into: &frames)                       // the last frame is message_stop
///
/// Anthropic's server-side tools are written in their own blocks. Other server-side tools are left out, because a
/// client would try to run them.
public struct AnthropicWriter: Sendable {
    /// An event: its name, and its data as JSON.
    public typealias Frame = (name: String, data: [UInt8])

    enum Block: Sendable { case text, thinking }

    let id: String
    var model: String
    var usage = Usage()
    private var hasBegun = false
    var open: Block?
    var index = 0
    /// The part of a text event before its text.
    private var textHead: [UInt8] = []
    private var tools = ServerTools()

    /// A writer for one answer. `model` is used until a server names another.
    public init(id: String, model: String) {
        self.id = id
        self.model = model
    }

    /// Appends the frames of an event to `frames`. Complete calls are written, but not pieces of them.
    public mutating func write(_ event: ChatEvent, into frames: inout [Frame]) {
        switch event {
        case .began(let start):
            // The first event has the input usage, which servers report right after this.
            if let model = start.model, !hasBegun { self.model = model }
        case .text(let text), .refusal(let text): writeText(text, &frames)
        case .reasoning(let text):
            open(.thinking, &frames)
            let delta: JSON = ["type": "thinking_delta", "thinking": .string(text)]
            append("content_block_delta", ["index": .int(index), "delta": delta], &frames)
        case .thought(let end): writeEnd(of: end, &frames)
        case .call(let call):
            if let block = tools.block(.call(call)) {
                writeCall(block, call.input, &frames)
            } else if !call.isDone {
                writeCall(call.id, call.name, call.input, &frames)
            }
        case .malformedCall(let call):
            // Clients fail if the input is not JSON. An empty input makes them refuse the call, and the model repairs
            // it.
            writeCall(call.id, call.name, ["invalid_json": .string(call.text)], &frames)
        case .usage(let usage): self.usage = usage
        // A call is written once it is complete.
        case .result(let result):
            if let block = tools.block(.result(result)) { write(whole: block, &frames) }
        case .calling, .notice: break
        }
    }

    /// Writes the stop reason, the usage and the end.
    public mutating func end(_ answer: ChatAnswer, into frames: inout [Frame]) {
        begin(&frames)
        close(&frames)
        let delta: JSON = [
            "stop_reason": .string(answer.anthropicReason), "stop_sequence": answer.stopWord.map(JSON.string) ?? .null,
        ]
        append("message_delta", ["delta": delta, "usage": .object(answer.usage.anthropic)], &frames)
        append("message_stop", [:], &frames)
    }

    /// Writes an error after a stream has begun. Before that, an error is the response's body.
    public mutating func fail(_ refusal: ServerRefusal, into frames: inout [Frame]) {
        frames.append(("error", Self.bytes(AnthropicDialect.envelope(refusal))))
    }
}

extension AnthropicWriter {
    mutating func begin(_ frames: inout [Frame]) {
        guard !hasBegun else { return }
        hasBegun = true
        var message = head
        message["content"] = []
        message["stop_reason"] = .null
        message["stop_sequence"] = .null
        message["usage"] = .object(usage.anthropic)
        append("message_start", ["message": .object(message)], &frames)
    }

    mutating func open(_ block: Block, _ frames: inout [Frame]) {
        begin(&frames)
        guard open != block else { return }
        close(&frames)
        open = block
        switch block {
        case .text: start(["type": "text", "text": ""], &frames)
        case .thinking: start(["type": "thinking", "thinking": "", "signature": ""], &frames)
        }
        textHead = Array(
            #"{"type":"content_block_delta","index":\#(index),"delta":{"type":"text_delta","text":"#.utf8)
    }

    mutating func close(_ frames: inout [Frame]) {
        guard open != nil else { return }
        open = nil
        stop(&frames)
    }

    /// The signature of a thought, or sealed reasoning. Clients must send both back.
    mutating func writeEnd(of thought: Reasoning, _ frames: inout [Frame]) {
        if let signature = thought.signature {
            open(.thinking, &frames)
            let delta: JSON = ["type": "signature_delta", "signature": .string(signature)]
            append("content_block_delta", ["index": .int(index), "delta": delta], &frames)
            close(&frames)
        } else if let sealed = thought.sealed {
            begin(&frames)
            close(&frames)
            start(["type": "redacted_thinking", "data": .string(sealed)], &frames)
            stop(&frames)
        }
    }

    mutating func writeCall(_ id: String, _ name: String, _ input: JSON, _ frames: inout [Frame]) {
        writeCall(["type": "tool_use", "id": .string(id), "name": .string(name)], input, &frames)
    }

    /// A block that does not grow.
    mutating func write(whole block: JSONObject, _ frames: inout [Frame]) {
        begin(&frames)
        close(&frames)
        start(.object(block), &frames)
        stop(&frames)
    }

    mutating func writeCall(_ block: JSONObject, _ input: JSON, _ frames: inout [Frame]) {
        begin(&frames)
        close(&frames)
        var block = block
        block["input"] = [:]
        start(.object(block), &frames)
        let delta: JSON = ["type": "input_json_delta", "partial_json": .string(input.text())]
        append("content_block_delta", ["index": .int(index), "delta": delta], &frames)
        stop(&frames)
    }

    private func start(_ block: JSON, _ frames: inout [Frame]) {
        append("content_block_start", ["index": .int(index), "content_block": block], &frames)
    }

    private mutating func stop(_ frames: inout [Frame]) {
        append("content_block_stop", ["index": .int(index)], &frames)
        index += 1
    }

    /// Most of a stream is text, so only the text itself is written for each event.
    mutating func writeText(_ text: String, _ frames: inout [Frame]) {
        open(.text, &frames)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(textHead.count + text.utf8.count + 8)
        bytes += textHead
        JSON.string(text).write(into: &bytes)
        bytes += "}}".utf8
        frames.append(("content_block_delta", bytes))
    }

    func append(_ name: String, _ members: JSONObject, _ frames: inout [Frame]) {
        var event: JSONObject = ["type": .string(name)]
        for (key, value) in members { event.append(key, value) }
        frames.append((name, Self.bytes(event)))
    }

    static func bytes(_ object: JSONObject) -> [UInt8] {
        var bytes: [UInt8] = []
        JSON.object(object).write(into: &bytes)
        return bytes
    }
}

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
        // Clients know these words and fail at others.
        case .other(let word):
            ["pause_turn", "stop_sequence", "model_context_window_exceeded"].contains(word) ? word : "end_turn"
        }
    }
}

extension Usage {
    /// Anthropic counts cached input separately from the rest. Its clients require both numbers, so zero stands for an
    /// unknown one.
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

/// The blocks of tools that Anthropic's servers run, such as web search. Their clients show them and send them back
/// with the results. They are recognised by ids that only Anthropic uses.
struct ServerTools: Sendable {
    /// The names of the called tools, by call.
    private var names: [String: String] = [:]

    /// The block of a part; nil if it is not of such a tool.
    mutating func block(_ part: Message.Part) -> JSONObject? {
        switch part {
        case .call(let call) where call.isDone && call.id.hasPrefix("srvtoolu_"):
            names[call.id] = call.name
            return ["type": "server_tool_use", "id": .string(call.id), "name": .string(call.name), "input": call.input]
        case .result(let result):
            guard let name = names[result.call] else { return nil }
            return [
                "type": .string(name + "_tool_result"), "tool_use_id": .string(result.call),
                "content": Self.content(of: result),
            ]
        default: return nil
        }
    }

    /// As the server wrote it.
    private static func content(of result: ToolResult) -> JSON {
        do {
            return try JSON(parsing: Array(result.content.utf8), reading: .stream)
        } catch {
            return .string(result.content)
        }
    }
}
