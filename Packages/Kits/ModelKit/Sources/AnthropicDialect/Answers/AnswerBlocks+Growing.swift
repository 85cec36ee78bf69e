import Capabilities
import ModelKit

extension AnswerBlocks {
    /// Goes on with a block. Where none has begun there, text begins one.
    mutating func append(
        _ piece: String, _ kind: BlockDelta.Kind, at index: Int, _ events: inout [ChatEvent]
    ) throws(DialectError) {
        guard !piece.isEmpty else { return }
        guard let place = try place(of: kind, at: index) else { return }
        switch (kind, blocks[place].kind) {
        case (.text, .text):
            try budget.charge(text: piece)
            blocks[place].text += piece
            events.append(.text(piece))
        case (.thinking, .thinking):
            try budget.charge(text: piece)
            blocks[place].text += piece
            events.append(.reasoning(piece))
        case (.signature, .thinking):
            try budget.charge(text: piece)
            blocks[place].signature = (blocks[place].signature ?? "") + piece
        case (.input, .call):
            try budget.charge(input: piece)
            blocks[place].text += piece
        case (.input, .answer):
            try budget.charge(text: piece)
            blocks[place].text += piece
            events.append(.text(piece))
        default: break
        }
    }

    @inline(__always)
    private mutating func place(of kind: BlockDelta.Kind, at index: Int) throws(DialectError) -> Int? {
        if let last = blocks.last, last.index == index, last.isOpen { return blocks.count - 1 }
        if let place = blocks.lastIndex(where: { $0.index == index && $0.isOpen }) { return place }
        switch kind {
        case .text: try add(Block(index: index, kind: .text))
        case .thinking: try add(Block(index: index, kind: .thinking))
        case .input, .signature: return nil
        }
        return blocks.count - 1
    }

    mutating func refuse(_ words: String, _ events: inout [ChatEvent]) {
        blocks.append(Block(index: -1, kind: .refusal, text: words, isOpen: false))
        events.append(.refusal(words))
    }
}
