import Capabilities
import JSON
import ModelKit

/// The items of an answer in the order in which they began, with a bound on what they hold.
struct AnswerItems: Sendable {
    /// What a piece of text is. Thoughts are summed up for people, or told as they were.
    enum Kind: Sendable { case text, refusal, summary, thoughts }

    struct Piece: Sendable {
        let kind: Kind
        /// Which of several of its kind.
        let place: Int
        var text = ""
    }

    struct Item: Sendable {
        let index: Int
        var pieces: [Piece] = []
        var isOpen = true
        /// Of a call: what the answer to it has to name, the tool, and its input as far as it has come.
        var call: (id: String, name: String)?
        var input = ""
        /// What a call has come to, and what the server has made of it.
        var results: [Message.Part] = []
        var sealed: String?
    }

    var items: [Item] = []
    var budget = AnswerBudget()

    var lastIndex: Int { items.last?.index ?? 0 }

    var hasRefusal: Bool {
        items.contains { $0.pieces.contains { $0.kind == .refusal && !$0.text.isEmpty } }
    }

    /// Whether there are calls that somebody has to answer.
    var hasOpenCalls: Bool {
        items.contains { item in
            item.results.contains { part in
                switch part {
                case .call(let call): !call.isDone
                case .malformedCall: true
                default: false
                }
            }
        }
    }

    var parts: [Message.Part] {
        var parts: [Message.Part] = []
        for item in items {
            if let reasoning = item.reasoning { parts.append(.reasoning(reasoning)) }
            for piece in item.pieces where !piece.text.isEmpty {
                switch piece.kind {
                case .text: parts.append(.text(piece.text))
                case .refusal: parts.append(.refusal(piece.text))
                case .summary, .thoughts: break
                }
            }
            parts += item.results
        }
        return parts
    }
}

extension AnswerItems.Kind {
    var isReasoning: Bool { self == .summary || self == .thoughts }

    func event(_ text: String) -> ChatEvent {
        switch self {
        case .text: .text(text)
        case .refusal: .refusal(text)
        case .summary, .thoughts: .reasoning(text)
        }
    }
}

extension AnswerItems.Item {
    var reasoning: Reasoning? {
        let text = pieces.reduce(into: "") { text, piece in if piece.kind.isReasoning { text += piece.text } }
        return text.isEmpty && sealed == nil ? nil : Reasoning(text, sealed: sealed)
    }
}
