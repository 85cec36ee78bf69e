public import Capabilities
import JSON
public import ModelKit

/// Puts an answer together from the events of a stream.
///
/// `isComplete` comes with `message_stop`. A stream that ends after a reason to stop and without that is whole too.
public struct AnthropicReader: AnswerReader {
    var start = ChatStart()
    private var hasBegun = false
    var blocks = AnswerBlocks()
    var usage = AnthropicUsage()
    /// Why the model stopped, in the server's word.
    var reason: String?
    /// The one of the words asked for that ended the answer.
    var stopWord: String?
    public internal(set) var isComplete = false

    init() {}

    public mutating func receive(
        _ name: String, _ data: [UInt8], into events: inout [ChatEvent]
    ) throws(DialectError) {
        guard !isComplete else { return }
        // Nearly all events are small pieces of text, for which no tree is built.
        if hasBegun, data.count < 1 << 16, name == "content_block_delta", let delta = BlockDelta(data) {
            try blocks.append(delta.text, delta.kind, at: delta.index, &events)
        } else {
            try receiveTree(name, data, into: &events)
        }
    }

    public mutating func finish(into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer {
        guard isComplete || reason != nil else { throw .cut }
        blocks.settle(isTruncated: isTruncated, &events)
        // An answer may have nothing in it, as after the results of tools when all has been said.
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
        // What was wanted of the tool that follows a schema is done by calling it.
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
