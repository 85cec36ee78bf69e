public import Capabilities
public import JSON
public import ModelKit

/// Writes an answer for a client of OpenAI's Responses API. Every event has a name, which its data repeats.
///
///     var writer = ResponsesWriter(id: "resp_1", created: 1_760_000_000, model: "a-model")
///     writer.write(.text("Hello"), into: &frames)
///     writer.end(answer, into: &frames)                       // the last frame is response.completed
///
/// Server-side tools are left out, because a client would try to run them.
public struct ResponsesWriter: Sendable {
    /// An event: its name, and its data as JSON.
    public typealias Frame = (name: String, data: [UInt8])

    let id: String
    /// Seconds since 1970.
    let created: Int
    var model: String
    private var sequence = 0
    private var hasBegun = false
    private var output: [JSON] = []
    var open: OutputItem?
    /// The part of a text event before its text.
    private var textHead: [UInt8] = []

    /// A writer for one answer. `created` is in seconds since 1970; `model` is used until a server names another.
    public init(id: String, created: Int, model: String) {
        self.id = id
        self.created = created
        self.model = model
    }

    /// Appends the frames of an event to `frames`. Complete calls are written, but not pieces of them.
    public mutating func write(_ event: ChatEvent, into frames: inout [Frame]) {
        switch event {
        case .began(let start):
            if let model = start.model { self.model = model }
            begin(&frames)
        case .text(let text): say(text, .text, &frames)
        case .refusal(let text): say(text, .refusal, &frames)
        case .reasoning(let text): say(text, .reasoning, &frames)
        case .thought(let end): seal(end, &frames)
        case .call(let call):
            if !call.isDone { writeCall(call.id, call.name, call.input.text(), &frames) }
        case .malformedCall(let call): writeCall(call.id, call.name, call.text, &frames)
        // A call is written once it is complete, and usage at the end.
        case .calling, .usage, .result, .notice: break
        }
    }

    /// Writes the end and the usage, with the whole answer again.
    public mutating func end(_ answer: ChatAnswer, into frames: inout [Frame]) {
        begin(&frames)
        close(&frames)
        let response = response(answer, output: output)
        let status = response["status"]?.string ?? "completed"
        append("response.\(status)", ["response": .object(response)], &frames)
    }

    /// Writes an error after a stream has begun. Before that, an error is the response's body.
    public mutating func fail(_ refusal: ServerRefusal, into frames: inout [Frame]) {
        begin(&frames)
        var response = head
        response["status"] = "failed"
        response["output"] = .array(output)
        response["error"] = [
            "code": .string(refusal.code ?? "server_error"), "message": .string(refusal.message),
        ]
        append("response.failed", ["response": .object(response)], &frames)
    }
}

extension ResponsesWriter {
    mutating func begin(_ frames: inout [Frame]) {
        guard !hasBegun else { return }
        hasBegun = true
        var response = head
        response["status"] = "in_progress"
        response["output"] = []
        append("response.created", ["response": .object(response)], &frames)
        append("response.in_progress", ["response": .object(response)], &frames)
    }

    mutating func say(_ text: String, _ kind: OutputItem.Kind, _ frames: inout [Frame]) {
        begin(&frames)
        if open?.kind != kind {
            close(&frames)
            start(kind, &frames)
        }
        open?.text += text
        if kind == .text {
            writeText(text, &frames)
        } else if let item = open {
            delta(text, of: item, &frames)
        }
    }

    /// Ends a thought with its sealed part, which clients must send back.
    mutating func seal(_ thought: Reasoning, _ frames: inout [Frame]) {
        guard let item = SealedReasoning.item(thought) else { return }
        begin(&frames)
        if open?.kind != .reasoning {
            close(&frames)
            start(.reasoning, &frames)
        }
        open?.sealed = item
        close(&frames)
    }

    mutating func writeCall(_ id: String, _ name: String, _ input: String, _ frames: inout [Frame]) {
        begin(&frames)
        close(&frames)
        start(.call(id: id, name: name), &frames)
        open?.text = input
        if let item = open { delta(input, of: item, &frames) }
        close(&frames)
    }

    private mutating func start(_ kind: OutputItem.Kind, _ frames: inout [Frame]) {
        let item = OutputItem(kind: kind, id: Self.itemID(kind, id, output.count))
        open = item
        if kind == .text { textHead = textHead(of: item) }
        append(
            "response.output_item.added", ["output_index": .int(output.count), "item": item.json(isDone: false)],
            &frames)
        if let events = item.partEvents { append(events.added, place(of: item, ["part": item.part("")]), &frames) }
    }

    private mutating func delta(_ text: String, of item: OutputItem, _ frames: inout [Frame]) {
        append(item.events.delta, place(of: item, ["delta": .string(text)]), &frames)
    }

    /// Most of a stream is text, so only the text itself is written for each event.
    private mutating func writeText(_ text: String, _ frames: inout [Frame]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(textHead.count + text.utf8.count + 64)
        bytes += textHead
        JSON.string(text).write(into: &bytes)
        bytes += #","logprobs":[],"sequence_number":\#(sequence)}"#.utf8
        sequence += 1
        frames.append(("response.output_text.delta", bytes))
    }

    private func textHead(of item: OutputItem) -> [UInt8] {
        var members = place(of: item, [:])
        members["type"] = "response.output_text.delta"
        var bytes: [UInt8] = []
        JSON.object(members).write(into: &bytes)
        bytes.removeLast()
        return bytes + #","delta":"#.utf8
    }

    mutating func close(_ frames: inout [Frame]) {
        guard let item = open else { return }
        open = nil
        var members = place(of: item, [item.events.whole: .string(item.text)])
        if item.kind == .text { members["logprobs"] = [] }
        append(item.events.done, members, &frames)
        if let events = item.partEvents {
            append(events.done, place(of: item, ["part": item.part(item.text)]), &frames)
        }
        let whole = item.json(isDone: true)
        append("response.output_item.done", ["output_index": .int(output.count), "item": whole], &frames)
        output.append(whole)
    }

    private func place(of item: OutputItem, _ members: JSONObject) -> JSONObject {
        var place: JSONObject = ["item_id": .string(item.id), "output_index": .int(output.count)]
        for (key, value) in item.place { place.append(key, value) }
        for (key, value) in members { place.append(key, value) }
        return place
    }

    mutating func append(_ name: String, _ members: JSONObject, _ frames: inout [Frame]) {
        var event: JSONObject = ["type": .string(name), "sequence_number": .int(sequence)]
        for (key, value) in members { event.append(key, value) }
        sequence += 1
        var bytes: [UInt8] = []
        JSON.object(event).write(into: &bytes)
        frames.append((name, bytes))
    }

    static func itemID(_ kind: OutputItem.Kind, _ response: String, _ place: Int) -> String {
        switch kind {
        case .text, .refusal: "msg_\(response)_\(place)"
        case .reasoning: "rs_\(response)_\(place)"
        case .call: "fc_\(response)_\(place)"
        }
    }
}

extension ResponsesWriter {
    /// The members that clients require in every form of the response.
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

    /// Nil for a complete answer, and for a reason that clients do not know.
    fileprivate var incompleteReason: String? {
        switch finish {
        case .stop, .calls: nil
        case .length: "max_output_tokens"
        // A refusal is complete; its text says the rest.
        case .refused where message.parts.contains { if case .refusal = $0 { true } else { false } }: nil
        case .refused: "content_filter"
        case .other: nil
        }
    }
}

extension Usage {
    /// Null if nothing is known. Clients require all numbers, so zero stands for an unknown one.
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

/// An output item, as far as it was written.
struct OutputItem: Sendable {
    enum Kind: Sendable, Equatable {
        case text, refusal, reasoning
        case call(id: String, name: String)
    }

    let kind: Kind
    let id: String
    /// Its text, or the input of a call.
    var text = ""
    /// For reasoning: the provider's own item, to be sent back unchanged.
    var sealed: JSON?

    /// - Parameter isDone: whether it is complete. An incomplete item has no text.
    func json(isDone: Bool) -> JSON {
        let status: JSON = isDone ? "completed" : "in_progress"
        switch kind {
        case .text, .refusal:
            let content: JSON = isDone ? [part(text)] : []
            return [
                "id": .string(id), "type": "message", "status": status, "role": "assistant", "content": content,
            ]
        case .reasoning:
            if isDone, let sealed { return sealed }
            let summary: JSON = isDone ? [part(text)] : []
            return ["id": .string(id), "type": "reasoning", "summary": summary]
        case .call(let call, let name):
            return [
                "id": .string(id), "type": "function_call", "status": status, "call_id": .string(call),
                "name": .string(name), "arguments": .string(isDone ? text : ""),
            ]
        }
    }

    /// The part of the item with its text.
    func part(_ text: String) -> JSON {
        switch kind {
        case .refusal: ["type": "refusal", "refusal": .string(text)]
        case .reasoning: ["type": "summary_text", "text": .string(text)]
        case .text, .call: ["type": "output_text", "text": .string(text), "annotations": [], "logprobs": []]
        }
    }

    /// The names of the events for its text, and the member with the whole text at the end.
    var events: (delta: String, done: String, whole: String) {
        switch kind {
        case .text: ("response.output_text.delta", "response.output_text.done", "text")
        case .refusal: ("response.refusal.delta", "response.refusal.done", "refusal")
        case .reasoning: ("response.reasoning_summary_text.delta", "response.reasoning_summary_text.done", "text")
        case .call: ("response.function_call_arguments.delta", "response.function_call_arguments.done", "arguments")
        }
    }

    /// The names of the events that begin and end its part; a call has none.
    var partEvents: (added: String, done: String)? {
        switch kind {
        case .text, .refusal: ("response.content_part.added", "response.content_part.done")
        case .reasoning: ("response.reasoning_summary_part.added", "response.reasoning_summary_part.done")
        case .call: nil
        }
    }

    /// The id of the item in the events of its texts.
    var place: JSONObject {
        switch kind {
        case .text, .refusal: ["content_index": 0]
        case .reasoning: ["summary_index": 0]
        case .call: [:]
        }
    }
}
