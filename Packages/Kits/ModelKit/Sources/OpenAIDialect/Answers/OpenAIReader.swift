public import Capabilities
import JSON
public import ModelKit

/// Puts an answer together from the chunks of a stream.
///
/// `isComplete` comes with `[DONE]`, as usage is told only after the reason to finish. A stream that ends after a reason
/// and without `[DONE]` is whole too.
public struct OpenAIReader: AnswerReader {
    let quirks: OpenAIQuirks
    var start = ChatStart()
    var hasBegun = false
    var parts = AnswerParts()
    var calls: CallPieces
    var details = ReasoningDetails()
    var usage: Usage?
    private var tags = ThinkTags()
    private var seam = SurrogateSeam()
    /// Whether the server has begun an answer.
    var hasChoice = false
    /// The last chunk of nothing but text.
    private var repeated: RepeatedChunk?
    /// Why the model stopped, in the server's word.
    var reason: String?
    /// Whether a gateway says that a tool was not used because nobody was there to allow it.
    var isUnapproved = false
    public internal(set) var isComplete = false

    /// More than this is not read as one event.
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
        // All that most chunks have is a piece of text, for which no tree is built.
        guard hasBegun, reason == nil else { return try receiveTree(name, data, into: &events) }
        guard let delta = TextDelta(data) else { return try receiveTree(name, data, into: &events) }
        repeated = RepeatedChunk(data, delta)
        hasChoice = true
        if let text = delta.reasoning { try say(text, .reasoning, &events) }
        if let text = delta.content { try say(text, .text, &events) }
    }

    public mutating func finish(into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer {
        guard isComplete || reason != nil else {
            throw DialectError(.cut, "the stream ended before the server said that the answer was whole; ask again")
        }
        try sayRest(&events)
        settleCalls(into: &events)
        let answer = partial
        // An answer may have nothing in it, as after the results of tools when all has been said. An agent that says
        // nothing has failed, and one that was cut short or held back says so by that.
        let mayBeEmpty = hasChoice && !quirks.callsAreDone
        if mayBeEmpty || answer.finish == .length || answer.finish == .refused || parts.hasAnswer { return answer }
        throw .empty
    }

    /// What looked like the beginning of a tag, and is none.
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

    /// The calls that nothing more can come for.
    mutating func settleCalls(into events: inout [ChatEvent]) {
        for part in calls.settle(isTruncated: finish == .length) { parts.add(part, &events) }
    }

    private var finish: ChatAnswer.Finish {
        // Some servers write the words in capitals.
        switch reason?.lowercased() {
        case "length", "max_tokens", "model_length": .length
        case "content_filter", "refusal", "safety": .refused
        case nil where !isComplete: .other("incomplete")
        // Some servers say `stop` though they want calls answered; others name calls that they have run themselves.
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
