public import Capabilities
import JSON
public import ModelKit

/// Assembles an answer from the events of a stream.
///
/// `isComplete` is set by the event with the end of the response. A stream that ends before it is cut.
public struct ResponsesReader: AnswerReader {
    var start = ChatStart()
    private var hasBegun = false
    var items = AnswerItems()
    var usage: Usage?
    /// The server's reason for an incomplete response.
    private var reason: String?
    public internal(set) var isComplete = false

    init() {}

    public mutating func receive(
        _ name: String, _ data: [UInt8], into events: inout [ChatEvent]
    ) throws(DialectError) {
        guard !isComplete else { return }
        // Nearly all events are small pieces of text, which are read without a JSON tree.
        if hasBegun, data.count < 1 << 16, name == "response.output_text.delta", let delta = TextDelta(data) {
            try items.append(delta.text, .text, delta.place, at: delta.item, &events)
        } else {
            try receiveTree(name, data, into: &events)
        }
    }

    public mutating func finish(into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer {
        guard isComplete else { throw .cut }
        // An answer may be empty, for example after tool results.
        return partial
    }

    public var partial: ChatAnswer {
        ChatAnswer(
            start: start, message: Message(.assistant, items.parts), finish: finish, usage: usage ?? Usage())
    }

    private var finish: ChatAnswer.Finish {
        switch reason {
        case "max_output_tokens", "max_tokens", "length": .length
        case "content_filter": .refused
        case nil where !isComplete: .other("incomplete")
        case nil: items.hasOpenCalls ? .calls : items.hasRefusal ? .refused : .stop
        case let word?: .other(PlainText.excerpt(word))
        }
    }

    mutating func begin(_ events: inout [ChatEvent]) {
        guard !hasBegun else { return }
        hasBegun = true
        events.append(.began(start))
    }
}

extension ResponsesReader {
    /// Reads an event that is not only text.
    mutating func receiveTree(
        _ name: String, _ data: [UInt8], into events: inout [ChatEvent]
    ) throws(DialectError) {
        let trimmed = data.drop { $0 <= 32 }
        if trimmed.isEmpty || trimmed.starts(with: "[DONE]".utf8) { return }
        let isKnown = name.isEmpty || name == "message" || name.hasPrefix("response.")
        guard let object = try AnswerObject.read(data, mayBeOther: !isKnown) else {
            if name == "error" { throw .failed(ServerRefusal(words: data) ?? ServerRefusal(message: "")) }
            return
        }
        let type = object["type"]?.filled ?? name
        if type == "error" || object["error"]?.isNull == false {
            throw .failed(ServerRefusal(inStream: object, isError: true) ?? ServerRefusal(message: ""))
        }
        switch type {
        case "response.created", "response.queued", "response.in_progress":
            note(object["response"]?.object ?? [:], &events)
        case "response.completed", "response.incomplete", "response.failed", "response.done", "response.cancelled":
            try take(response: object["response"]?.object ?? [:], type, &events)
        // A whole answer instead of stream events.
        case _ where object["object"] == "response": try takeWhole(object, &events)
        default: try take(object, type, &events)
        }
    }

    /// Reads an answer that was not streamed.
    mutating func receiveWhole(_ body: [UInt8], into events: inout [ChatEvent]) throws(DialectError) {
        guard let object = try AnswerObject.read(body) else { throw .malformed(body) }
        let isAnswer = object["output"]?.array != nil
        if !isAnswer, let refusal = ServerRefusal(inStream: object, isError: true) { throw .failed(refusal) }
        guard isAnswer else { throw .malformed(body) }
        try takeWhole(object, &events)
    }

    private mutating func takeWhole(_ object: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) {
        try take(response: object, "response.\(object["status"]?.filled ?? "completed")", &events)
    }

    /// Notes the id and the model.
    private mutating func note(_ response: JSONObject, _ events: inout [ChatEvent]) {
        start.id = start.id ?? response["id"]?.filled
        start.model = start.model ?? response["model"]?.filled
        begin(&events)
    }

    /// The end of the response. It provides what earlier events did not.
    private mutating func take(
        response: JSONObject, _ type: String, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        note(response, &events)
        if let usage = response["usage"]?.object.flatMap(Usage.init(responses:)) {
            self.usage = usage
            events.append(.usage(usage))
        }
        if type == "response.failed" || response["error"]?.isNull == false {
            throw .failed(ServerRefusal(inStream: response, isError: true) ?? ServerRefusal(message: ""))
        }
        let isWhole = type == "response.completed" || type == "response.done"
        for (place, item) in (response["output"]?.array ?? []).enumerated() {
            try items.close(with: item, at: place, isTruncated: !isWhole, &events)
        }
        items.settle(isTruncated: !isWhole, &events)
        if !isWhole {
            reason = response["incomplete_details"]?["reason"]?.filled ?? response["status"]?.filled ?? "incomplete"
        }
        isComplete = true
    }
}

extension ResponsesReader {
    private mutating func take(
        _ event: JSONObject, _ type: String, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        let item = event["output_index"]?.int ?? items.lastIndex
        let place = event["content_index"]?.int ?? event["summary_index"]?.int ?? 0
        let text = event["delta"]?.filled ?? ""
        switch type {
        case "response.output_item.added":
            begin(&events)
            if let content = event["item"] { try items.open(content, at: item, &events) }
        case "response.output_item.done":
            begin(&events)
            if let content = event["item"] { try items.close(with: content, at: item, isTruncated: false, &events) }
        case "response.output_text.delta": try say(text, .text, place, at: item, &events)
        case "response.refusal.delta": try say(text, .refusal, place, at: item, &events)
        case "response.reasoning_summary_text.delta": try say(text, .summary, place, at: item, &events)
        case "response.reasoning_text.delta": try say(text, .thoughts, place, at: item, &events)
        case "response.function_call_arguments.delta": try items.append(input: text, at: item)
        case "response.function_call_arguments.done":
            try items.replace(input: event["arguments"]?.filled, at: item)
        default: break
        }
    }

    private mutating func say(
        _ text: String, _ kind: AnswerItems.Kind, _ place: Int, at item: Int, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        begin(&events)
        try items.append(text, kind, place, at: item, &events)
    }
}

extension Usage {
    /// Nil if the server reports nothing.
    init?(responses object: JSONObject) {
        self.init(
            inputTokens: object["input_tokens"].tokens, outputTokens: object["output_tokens"].tokens,
            cachedTokens: object["input_tokens_details"]?["cached_tokens"].tokens,
            cacheWriteTokens: object["input_tokens_details"]?["cache_write_tokens"].tokens,
            reasoningTokens: object["output_tokens_details"]?["reasoning_tokens"].tokens)
        if self == Usage() { return nil }
    }
}

/// A piece of text, read without a JSON tree because nearly all events are such pieces. It is nil for any other event,
/// which is then parsed.
struct TextDelta {
    private(set) var item = -1
    private(set) var place = 0
    private(set) var text = ""
    private var pieces = 0

    @inline(__always)
    init?(_ data: [UInt8]) {
        do {
            try JSONPullReader.read(data) { reader in
                try reader.object { reader, key in
                    switch key {
                    case "output_index": item = try reader.int()
                    case "content_index": place = try reader.int()
                    case "delta":
                        text = try reader.string()
                        pieces += 1
                    case "error": pieces += 2
                    default: break
                    }
                }
            }
        } catch {
            return nil
        }
        guard pieces == 1, item >= 0 else { return nil }
    }
}
