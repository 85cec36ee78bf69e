public import Capabilities
import JSON
public import ModelKit

/// Puts an answer together from the events of a stream.
///
/// `isComplete` comes with the event that says how the response ended. A stream that ends before that is cut.
public struct ResponsesReader: AnswerReader {
    var start = ChatStart()
    private var hasBegun = false
    var items = AnswerItems()
    var usage: Usage?
    /// Why the response is incomplete, in the server's word.
    var reason: String?
    public internal(set) var isComplete = false

    init() {}

    public mutating func receive(
        _ name: String, _ data: [UInt8], into events: inout [ChatEvent]
    ) throws(DialectError) {
        guard !isComplete else { return }
        // Nearly all events are small pieces of text, for which no tree is built.
        if hasBegun, data.count < 1 << 16, name == "response.output_text.delta", let delta = TextDelta(data) {
            try items.append(delta.text, .text, delta.place, at: delta.item, &events)
        } else {
            try receiveTree(name, data, into: &events)
        }
    }

    public mutating func finish(into events: inout [ChatEvent]) throws(DialectError) -> ChatAnswer {
        guard isComplete else { throw .cut }
        // An answer may have nothing in it, as after the results of tools when all has been said.
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
