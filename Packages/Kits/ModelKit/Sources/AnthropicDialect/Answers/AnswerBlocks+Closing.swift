import Capabilities
import ModelKit

extension AnswerBlocks {
    /// Ends a block.
    mutating func close(_ index: Int, _ events: inout [ChatEvent]) {
        guard let place = blocks.lastIndex(where: { $0.index == index && $0.isOpen }) else { return }
        close(place: place, isTruncated: nil, &events)
    }

    /// Ends everything, as nothing more comes.
    mutating func settle(isTruncated: Bool, _ events: inout [ChatEvent]) {
        settleUndecided(isTruncated: isTruncated, &events)
        for place in blocks.indices where blocks[place].isOpen {
            close(place: place, isTruncated: isTruncated, &events)
        }
    }

    mutating func settleUndecided(isTruncated: Bool, _ events: inout [ChatEvent]) {
        guard let place = undecided else { return }
        undecided = nil
        close(place: place, isTruncated: isTruncated, &events)
    }

    /// - Parameter isTruncated: Nil where that is not known yet.
    private mutating func close(place: Int, isTruncated: Bool?, _ events: inout [ChatEvent]) {
        blocks[place].isOpen = false
        let block = blocks[place]
        let input = block.text.isEmpty ? block.startInput ?? "" : block.text
        switch block.kind {
        case .answer where block.text.isEmpty && !input.isEmpty:
            blocks[place].text = input
            events.append(.text(input))
        case .thinking:
            if let signature = block.signature { events.append(.thought(Reasoning("", signature: signature))) }
        case .sealed: events.append(.thought(Reasoning("", sealed: block.text)))
        case .call(let id, let name, let isDone):
            if input.isEmpty, isTruncated == nil {
                undecided = place
                return
            }
            let part = CallInput.part(
                id: id, name: name, text: input, isTruncated: isTruncated ?? false, isDone: isDone)
            blocks[place].call = part
            switch part {
            case .call(let call): events.append(.call(call))
            case .malformedCall(let call): events.append(.malformedCall(call))
            default: break
            }
        default: break
        }
    }
}
