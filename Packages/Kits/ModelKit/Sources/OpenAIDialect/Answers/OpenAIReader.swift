public import Capabilities
import JSON
public import ModelKit

/// Assembles an answer from the chunks of a stream.
///
/// `isComplete` is set by `[DONE]`, because usage comes only after the finish reason. A stream that ends after a reason
/// without `[DONE]` is also complete.
public struct OpenAIReader: AnswerReader {
    let quirks: OpenAIQuirks
    var start = ChatStart()
    private var hasBegun = false
    var parts = AnswerParts()
    var calls: CallPieces
    private var details = ReasoningDetails()
    var usage: Usage?
    private var tags = ThinkTags()
    private var seam = SurrogateSeam()
    /// Whether the server has begun an answer.
    private var hasChoice = false
    /// The last chunk with only text.
    private var repeated: RepeatedChunk?
    /// The server's finish reason.
    private var reason: String?
    /// Whether a gateway reports that a tool was not used because nobody could approve it.
    var isUnapproved = false
    public internal(set) var isComplete = false

    /// The size limit of one event.
    static let largestEvent = 32 << 20

    init(_ quirks: OpenAIQuirks) {
        self.quirks = quirks
        calls = CallPieces(areDone: quirks.callsAreDone)
    }

    public mutating func receive(
        _ name: String, _ data: [UInt8], into events: inout [ChatEvent]
    ) throws(DialectError) {
        guard !isComplete else { return }
        if !seam.isOpen, hasBegun, reason == nil, let text = repeated?.text(in: data) {
            return try say(text, .text, &events)
        }
        let data = seam.isOpen || data.contains(UInt8(ascii: "\\")) ? seam.mend(data) : data
        // Most chunks have only a piece of text, which is read without a JSON tree.
        guard hasBegun, reason == nil else { return try receiveTree(name, data, into: &events) }
        guard let delta = TextDelta(data) else { return try receiveTree(name, data, into: &events) }
        repeated = RepeatedChunk(data, delta)
        hasChoice = true
        if let text = delta.reasoning { try say(text, .reasoning, &events) }
        if let text = delta.content { try say(text, .text, &events) }
    }

    public mutating func finish(into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer {
        guard isComplete || reason != nil else {
            throw DialectError(.cut, "the stream ended before the answer was complete; try again")
        }
        try sayRest(&events)
        settleCalls(into: &events)
        let answer = partial
        // An answer may be empty, for example after tool results. An empty answer of an agent is a failure, unless it
        // was cut off or withheld.
        let mayBeEmpty = hasChoice && !quirks.callsAreDone
        if mayBeEmpty || answer.finish == .length || answer.finish == .refused || parts.hasAnswer { return answer }
        throw .empty
    }

    /// Text that was held back as a possible tag.
    mutating func sayRest(_ events: inout [ChatEvent]) throws(DialectError) {
        let rest = tags.rest()
        try tell(rest.text, rest.kind, &events)
    }

    public var partial: ChatAnswer {
        let message = Message(.assistant, parts.all(sealed: details.sealed))
        var answer = ChatAnswer(start: start, message: message, finish: finish, usage: usage ?? Usage())
        answer.isUnapproved = isUnapproved
        return answer
    }

    /// The calls that cannot receive more pieces.
    mutating func settleCalls(into events: inout [ChatEvent]) {
        for part in calls.settle(isTruncated: finish == .length) { parts.add(part, &events) }
    }

    private var finish: ChatAnswer.Finish {
        // Some servers write the words in capitals.
        switch reason?.lowercased() {
        case "length", "max_tokens", "model_length": .length
        case "content_filter", "refusal", "safety": .refused
        case nil where !isComplete: .other("incomplete")
        // Some servers say `stop` although their calls need results. Others name calls that they ran themselves.
        case nil, "stop", "tool_calls", "function_call", "tool_use", "end_turn", "stop_sequence", "eos":
            parts.hasOpenCalls ? .calls : parts.hasRefusal ? .refused : .stop
        case let word?: .other(PlainText.excerpt(word))
        }
    }

    mutating func say(
        _ text: String, _ kind: AnswerParts.Kind, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        guard kind == .text, !tags.isSettled, !text.isEmpty else { return try tell(text, kind, &events) }
        for piece in tags.take(text) { try tell(piece.text, piece.kind, &events) }
    }

    private mutating func tell(
        _ text: String, _ kind: AnswerParts.Kind, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        guard !text.isEmpty else { return }
        begin(&events)
        try parts.append(text, kind)
        switch kind {
        case .text: events.append(.text(text))
        case .reasoning: events.append(.reasoning(text))
        case .refusal: events.append(.refusal(text))
        }
    }

    mutating func begin(_ events: inout [ChatEvent]) {
        guard !hasBegun else { return }
        hasBegun = true
        events.append(.began(start))
    }
}

extension OpenAIReader {
    /// Reads an event that is not only text.
    mutating func receiveTree(
        _ name: String, _ data: [UInt8], into events: inout [ChatEvent]
    ) throws(DialectError) {
        let trimmed = data.drop { $0 <= 32 }
        if trimmed.isEmpty { return }
        if trimmed.starts(with: "[DONE]".utf8) { return try complete(&events) }
        guard let object = try Self.object(in: data, named: name) else { return }
        let isError = name == "error" || Self.saysOnlyWords(object)
        if let refusal = ServerRefusal(inStream: object, isError: isError) { throw .failed(refusal) }
        try take(object, &events)
    }

    /// Reads an answer that was not streamed.
    mutating func receiveWhole(_ body: [UInt8], into events: inout [ChatEvent]) throws(DialectError) {
        guard let object = try Self.object(in: body, named: "") else { throw .malformed(body) }
        let isError = object["choices"] == nil && object["object"] == nil
        if let refusal = ServerRefusal(inStream: object, isError: isError) { throw .failed(refusal) }
        try take(object, &events)
        try complete(&events)
    }

    /// Whether it is what proxies write in the middle of a stream when they fail.
    private static func saysOnlyWords(_ object: JSONObject) -> Bool {
        (object["detail"] != nil || object["message"] != nil)
            && !["choices", "object", "usage", "id"].contains { object[$0] != nil }
    }

    private mutating func complete(_ events: inout [ChatEvent]) throws(DialectError) {
        isComplete = true
        try sayRest(&events)
        settleCalls(into: &events)
    }

    private mutating func take(_ object: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) {
        if try takeFrame(object, &events) { return }
        note(object, &events)
        if object["unapproved"]?.bool == true { isUnapproved = true }
        // Only one answer is requested. Others are ignored.
        let choice = object["choices"]?.array?.first { ($0["index"]?.int ?? 0) == 0 }
        if let choice {
            hasChoice = true
            if let delta = (choice["delta"]?.object ?? choice["message"]?.object) { try take(delta: delta, &events) }
            if reason == nil, let word = choice["finish_reason"]?.filled {
                if word == "error" { throw .failed(ServerRefusal(message: "it gave no reason")) }
                reason = word
                try sayRest(&events)
                settleCalls(into: &events)
            }
        }
        take(usage: choice?["usage"]?.object, &events)
        take(usage: object["usage"]?.object, &events)
    }

    /// Notes the id and the model. Some servers send them only in later chunks, or empty at first.
    private mutating func note(_ object: JSONObject, _ events: inout [ChatEvent]) {
        start.id = start.id ?? object["id"]?.filled
        start.model = start.model ?? object["model"]?.filled
        start.session = start.session ?? object["session_id"]?.filled
        start.project = start.project ?? object["project_id"]?.filled
        if start.model != nil { begin(&events) }
    }

    private mutating func take(delta: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) {
        var thoughts = delta["reasoning"]?.filled ?? delta["reasoning_content"]?.filled ?? ""
        for case .object(let detail) in delta["reasoning_details"]?.array ?? [] {
            try parts.charge(detail.reduce(128) { $0 + $1.key.utf8.count + ($1.value.string?.utf8.count ?? 32) })
            let text = details.take(detail)
            if delta["reasoning"]?.filled == nil, delta["reasoning_content"]?.filled == nil { thoughts += text }
        }
        try say(thoughts, .reasoning, &events)
        try take(content: delta["content"], &events)
        try say(delta["refusal"]?.filled ?? "", .refusal, &events)
        // Some servers send the calls after the reason, and others send all of them again.
        guard reason == nil || !parts.hasOpenCalls else { return }
        var pieces = delta["tool_calls"]?.array ?? []
        // The older form, with one call.
        if let call = delta["function_call"], !call.isNull { pieces.append(["index": 0, "function": call]) }
        for piece in pieces {
            begin(&events)
            if let part = try calls.take(piece, &events) { parts.add(part, &events) }
        }
    }

    /// Content is a text, or a list of blocks with texts and, from some servers, reasoning.
    private mutating func take(content: JSON?, _ events: inout [ChatEvent]) throws(DialectError) {
        if let text = content?.filled { try say(text, .text, &events) }
        for block in content?.array ?? [] {
            let texts = block["thinking"]?.array ?? []
            for text in texts { try say(text["text"]?.filled ?? "", .reasoning, &events) }
            try say(block["thinking"]?.filled ?? "", .reasoning, &events)
            try say(block["text"]?.filled ?? "", .text, &events)
        }
    }

    mutating func take(usage object: JSONObject?, _ events: inout [ChatEvent]) {
        guard let object, let new = Usage(openAI: object), new != usage else { return }
        begin(&events)
        usage = new
        events.append(.usage(new))
    }

    /// Nil for JSON that is not an object, and for other named events, neither of which belong to the dialect.
    private static func object(in data: [UInt8], named name: String) throws(DialectError) -> JSONObject? {
        guard data.count <= largestEvent else {
            throw DialectError(.tooLarge, "the server sent more than \(largestEvent >> 20) MiB at once; ask for less")
        }
        do {
            return try JSON(parsing: data, reading: .stream).object
        } catch {
            if name == "error" { throw .failed(ServerRefusal(words: data) ?? ServerRefusal(message: "")) }
            guard name.isEmpty || name == "message" else { return nil }
            if error.code == .depth {
                throw DialectError(
                    .tooLarge, "the server's answer is nested too deeply: \(error); rephrase the question")
            }
            throw .malformed(data)
        }
    }
}

/// The frames that a gateway sends between its chunks, marked by `object`: the tools that it used, and the total usage.
extension OpenAIReader {
    /// Whether it was such a frame.
    mutating func takeFrame(_ object: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) -> Bool {
        switch object["object"]?.string {
        case "tool_use":
            try takeUse(object, &events)
        case "tool_result":
            try takeResult(object, &events)
        case "usage":
            // The numbers are in the frame itself, or below a key as in chunks.
            take(usage: object["usage"]?.object ?? object, &events)
        // An approval question is handled by the caller.
        case "approval_request": break
        default: return false
        }
        return true
    }

    private mutating func takeUse(_ frame: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) {
        begin(&events)
        let input = frame["input"]?.unlessNull ?? [:]
        let name = frame["name"]?.filled ?? "tool"
        try parts.charge(256 + input.text().utf8.count)
        guard let part = try calls.takeDone(id: frame["id"]?.filled, name: name, input: input) else { return }
        parts.add(part, &events)
    }

    private mutating func takeResult(_ frame: JSONObject, _ events: inout [ChatEvent]) throws(DialectError) {
        guard let call = (frame["tool_id"] ?? frame["tool_use_id"])?.filled else { return }
        begin(&events)
        var result = ToolResult(call: call, content: Self.text(of: frame["content"]))
        result.isError = frame["is_error"]?.bool ?? false
        if let time = frame["duration_ms"]?.double, time >= 0, time < 1e12 { result.duration = .milliseconds(time) }
        result.exitCode = frame["exit_code"]?.int
        try parts.charge(256 + result.content.utf8.count)
        parts.add(.result(result), &events)
    }

    private static func text(of content: JSON?) -> String {
        switch content {
        case .string(let text): text
        case .array(let blocks) where blocks.allSatisfy({ $0["text"]?.string != nil }):
            blocks.compactMap { $0["text"]?.string }.joined()
        case nil, .null: ""
        case let value?: value.text()
        }
    }
}

extension Usage {
    /// The reported usage, under OpenAI's names or those of Anthropic and gateways; nil if there is none.
    init?(openAI object: JSONObject) {
        let read = object["prompt_tokens_details"] ?? object["input_tokens_details"]
        let written = object["completion_tokens_details"] ?? object["output_tokens_details"]
        let fromCache = object["cache_read_input_tokens"].tokens
        let toCache = object["cache_creation_input_tokens"].tokens
        self.init(
            outputTokens: object["completion_tokens"].tokens ?? object["output_tokens"].tokens,
            cachedTokens: read?["cached_tokens"].tokens ?? fromCache,
            cacheWriteTokens: read?["cache_write_tokens"].tokens ?? toCache,
            reasoningTokens: written?["reasoning_tokens"].tokens)
        if let tokens = object["prompt_tokens"].tokens {
            inputTokens = tokens
        } else if let tokens = object["input_tokens"].tokens {
            // Anthropic's names count input without the cached part.
            inputTokens = tokens + (fromCache ?? 0) + (toCache ?? 0)
        }
        cost = Cost(object["cost"])
        // A gateway that does not know the cost sends zero.
        if cost == nil, let total = Cost(object["total_cost"]), total.nanodollars > 0 { cost = total }
        if self == Usage() { return nil }
    }
}

extension Cost {
    init?(_ dollars: JSON?) {
        guard let dollars = dollars?.double, dollars >= 0, dollars < 1e9 else { return nil }
        self.init(nanodollars: Int((dollars * 1e9).rounded()))
    }
}
