import Capabilities
import JSON
import ModelKit

/// The blocks of an answer in the order in which they began, with a bound on what they hold.
struct AnswerBlocks: Sendable {
    struct Block: Sendable {
        enum Kind: Sendable {
            case text, refusal, thinking
            /// Thoughts that only the provider can read.
            case sealed
            case call(id: String, name: String, isDone: Bool)
            /// The call that is the answer itself, whose input is its text.
            case answer
            case result(ToolResult)
            case unknown
        }

        let index: Int
        let kind: Kind
        var text = ""
        var signature: String?
        var isOpen = true
        /// The input that stood in the block's beginning, which counts when no pieces of it follow.
        var startInput: String?
        /// What a call has come to.
        var call: Message.Part?
    }

    var blocks: [Block] = []
    var budget = AnswerBudget()
    /// The call that ended without any input. It has none, or the answer was cut before that: what comes next tells.
    var undecided: Int?

    var lastIndex: Int { blocks.last?.index ?? 0 }

    /// Whether there are calls that somebody has to answer.
    var hasOpenCalls: Bool {
        blocks.contains { block in
            switch block.call {
            case .call(let call): !call.isDone
            case .malformedCall: true
            default: false
            }
        }
    }

    var parts: [Message.Part] {
        blocks.compactMap { block in
            switch block.kind {
            case .text, .answer: block.text.isEmpty ? nil : .text(block.text)
            case .refusal: .refusal(block.text)
            case .thinking:
                // Thoughts may be kept back; their signature is needed all the same.
                block.text.isEmpty && block.signature == nil
                    ? nil : .reasoning(Reasoning(block.text, signature: block.signature))
            case .sealed: .reasoning(Reasoning("", sealed: block.text))
            case .call: block.call
            case .result(let result): .result(result)
            case .unknown: nil
            }
        }
    }
}
