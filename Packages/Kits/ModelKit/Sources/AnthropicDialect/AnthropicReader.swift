public import Capabilities
import JSON
public import ModelKit

/// Assembles an answer from the events of a stream.
///
/// `isComplete` is set by `message_stop`. A stream that ends after a stop reason but without it is also complete.
public struct AnthropicReader: AnswerReader {
    var start = ChatStart()
    private var hasBegun = false
    private var blocks = AnswerBlocks()
    var usage = AnthropicUsage()
    /// The server's stop reason.
    private var reason: String?
    /// The stop word that ended the answer.
    var stopWord: String?
    public internal(set) var isComplete = false

    init() {}

    public mutating func receive(
        _ name: String, _ data: [UInt8], into events: inout [ChatEvent]
    ) throws(DialectError) {
        guard !isComplete else { return }
        // Nearly all events are small pieces of text, which are read without a JSON tree.
        if hasBegun, data.count < 1 << 16, name == "content_block_delta", let delta = BlockDelta(data) {
            try blocks.append(delta.text, delta.kind, at: delta.index, &events)
        } else {
            try receiveTree(name, data, into: &events)
        }
    }

    public mutating func finish(into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer {
        guard isComplete || reason != nil else { throw .cut }
        blocks.settle(isTruncated: isTruncated, &events)
        // An answer may be empty, for example after tool results.
        return partial
    }

    public var partial: ChatAnswer {
        var answer = ChatAnswer(
            start: start, message: Message(.assistant, blocks.parts), finish: finish, usage: usage.whole ?? Usage())
        answer.stopWord = stopWord
        return answer
    }

    var isTruncated: Bool { reason == "max_tokens" || reason == "model_context_window_exceeded" }

    private var finish: ChatAnswer.Finish {
        switch reason?.lowercased() {
        case "max_tokens", "model_context_window_exceeded", "length": .length
        case "refusal", "content_filter": .refused
        case nil where !isComplete: .other("incomplete")
        // Calling the tool of a schema fulfils the required tool choice.
        case nil, "end_turn", "stop_sequence", "tool_use", "stop": blocks.hasOpenCalls ? .calls : .stop
        case let word?: .other(PlainText.excerpt(word))
        }
    }

    mutating func begin(_ events: inout [ChatEvent]) {
        guard !hasBegun else { return }
        hasBegun = true
        events.append(.began(start))
    }
}

extension AnthropicReader {
    private static let knownEvents: Set<String> = [
        "", "message", "message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta",
        "content_block_stop",
    ]

    /// Reads an event that is not only text.
    mutating func receiveTree(
        _ name: String, _ data: [UInt8], into events: inout [ChatEvent]
    ) throws(DialectError) {
        let trimmed = data.drop { $0 <= 32 }
        // Some proxies end every stream like OpenAI.
        if trimmed.isEmpty || trimmed.starts(with: "[DONE]".utf8) { return }
        guard let object = try AnswerObject.read(data, mayBeOther: !Self.knownEvents.contains(name)) else {
            if name == "error" { throw .failed(ServerRefusal(words: data) ?? ServerRefusal(message: "")) }
            return
        }
        if let refusal = ServerRefusal(inStream: object, isError: name == "error") { throw .failed(refusal) }
        switch object["type"]?.filled ?? name {
        case "message_start": try take(message: object["message"]?.object ?? [:], &events)
        case "content_block_start": try takeStart(object, &events)
        case "content_block_delta": try takeDelta(object, &events)
        case "content_block_stop": blocks.close(index(of: object), &events)
        case "message_delta":
            take(stop: object["delta"]?.object ?? [:], &events)
            take(usage: object["usage"]?.object, &events)
        case "message_stop": complete(&events)
        // A whole answer instead of stream events.
        case "message" where object["content"] != nil: try takeWhole(object, &events)
        default: break
        }
    }

    /// Reads an answer that was not streamed.
    mutating func receiveWhole(_ body: [UInt8], into events: inout [ChatEvent]) throws(DialectError) {
        guard let object = try AnswerObject.read(body) else { throw .malformed(body) }
        let isAnswer = object["content"]?.array != nil
        if let refusal = ServerRefusal(inStream: object, isError: !isAnswer) { throw .failed(refusal) }
        guard isAnswer else { throw .malformed(body) }
        try takeWhole(object, &events)
    }

    private mutating func takeWhole(_ object: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) {
        try take(message: object, &events)
        take(stop: object, &events)
        complete(&events)
    }

    private mutating func complete(_ events: inout [ChatEvent]) {
        begin(&events)
        blocks.settle(isTruncated: isTruncated, &events)
        isComplete = true
    }

    private mutating func take(message: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) {
        start.id = start.id ?? message["id"]?.filled
        start.model = start.model ?? message["model"]?.filled
        begin(&events)
        take(usage: message["usage"]?.object, &events)
        for (place, block) in (message["content"]?.array ?? []).enumerated() {
            try blocks.open(block, at: place, &events)
            blocks.close(place, &events)
        }
    }

    private mutating func takeStart(_ object: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) {
        begin(&events)
        guard let block = object["content_block"] else { return }
        try blocks.open(block, at: index(of: object), &events)
    }

    private mutating func takeDelta(_ object: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) {
        begin(&events)
        let delta = object["delta"]
        for (type, key, kind) in BlockDelta.Kind.all where delta?["type"]?.string == type {
            try blocks.append(delta?[key]?.filled ?? "", kind, at: index(of: object), &events)
        }
    }

    private mutating func take(stop: JSONObject, _ events: inout [ChatEvent]) {
        begin(&events)
        guard reason == nil, let word = stop["stop_reason"]?.filled else { return }
        reason = word
        stopWord = stop["stop_sequence"]?.filled.map { PlainText.excerpt($0) }
        blocks.settle(isTruncated: isTruncated, &events)
        // Some models give the reason for a refusal.
        if word == "refusal", let words = stop["stop_details"]?["explanation"]?.filled {
            blocks.refuse(PlainText.escape(words), &events)
        }
    }

    private mutating func take(usage object: JSONObject?, _ events: inout [ChatEvent]) {
        guard let object else { return }
        let before = usage.whole
        usage.take(object)
        if let whole = usage.whole, whole != before { events.append(.usage(whole)) }
    }

    private func index(of object: JSONObject) -> Int {
        object["index"]?.int ?? blocks.lastIndex
    }
}

/// The usage so far. Reports are cumulative, and a missing value keeps the earlier one.
struct AnthropicUsage: Sendable {
    private var input: Int?
    private var output: Int?
    private var cacheRead: Int?
    private var cacheWrite: Int?
    private var thinking: Int?
    private var cost: Double?

    mutating func take(_ object: JSONObject) {
        input = object["input_tokens"].tokens ?? input
        output = object["output_tokens"].tokens ?? output
        cacheRead = object["cache_read_input_tokens"].tokens ?? cacheRead
        cacheWrite = object["cache_creation_input_tokens"].tokens ?? cacheWrite
        thinking = object["output_tokens_details"]?["thinking_tokens"].tokens ?? thinking
        // Only proxies report the cost.
        if let dollars = object["cost"]?.double, 0..<1e9 ~= dollars { cost = dollars }
    }

    /// Nil if nothing is known. Anthropic counts cached input separately from the rest.
    var whole: Usage? {
        let usage = Usage(
            inputTokens: input.map { $0 + (cacheRead ?? 0) + (cacheWrite ?? 0) }, outputTokens: output,
            cachedTokens: cacheRead, cacheWriteTokens: cacheWrite, reasoningTokens: thinking,
            cost: cost.map { Cost(nanodollars: Int(($0 * 1e9).rounded())) })
        return usage == Usage() ? nil : usage
    }
}
