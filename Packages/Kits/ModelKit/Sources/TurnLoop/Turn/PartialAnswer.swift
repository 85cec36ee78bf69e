import Capabilities

/// Puts together what has come of an answer, for the case that there is no more.
struct PartialAnswer {
    private(set) var start: ChatStart?
    private(set) var usage: Usage?
    private(set) var message = Message(.assistant, [])

    mutating func receive(_ events: [ChatEvent]) {
        for event in events { receive(event) }
    }

    private mutating func receive(_ event: ChatEvent) {
        switch event {
        case .began(let start): self.start = start
        case .text(let more): append(text: more)
        case .reasoning(let more): append(reasoning: more)
        case .thought(let end): close(with: end)
        case .refusal(let more): append(refusal: more)
        case .call(let call): message.parts.append(.call(call))
        case .malformedCall(let call): message.parts.append(.malformedCall(call))
        case .result(let result): message.parts.append(.result(result))
        case .usage(let usage): self.usage = usage
        case .calling, .notice: break
        }
    }

    // The last part is taken out before it grows: a second reference would make each piece copy the whole text.

    private mutating func append(text more: String) {
        guard case .text(var text)? = message.parts.last else { return message.parts.append(.text(more)) }
        message.parts.removeLast()
        text += more
        message.parts.append(.text(text))
    }

    private mutating func append(reasoning more: String) {
        guard case .reasoning(var thought)? = message.parts.last, !thought.isClosed else {
            return message.parts.append(.reasoning(Reasoning(more)))
        }
        message.parts.removeLast()
        thought.text += more
        message.parts.append(.reasoning(thought))
    }

    /// What proves a thought goes with the text that came before it.
    private mutating func close(with end: Reasoning) {
        guard case .reasoning(var thought)? = message.parts.last, !thought.isClosed else {
            return message.parts.append(.reasoning(end))
        }
        message.parts.removeLast()
        (thought.signature, thought.sealed) = (end.signature, end.sealed)
        message.parts.append(.reasoning(thought))
    }

    private mutating func append(refusal more: String) {
        guard case .refusal(var text)? = message.parts.last else { return message.parts.append(.refusal(more)) }
        message.parts.removeLast()
        text += more
        message.parts.append(.refusal(text))
    }
}

extension Reasoning {
    /// Whether it has ended, so that what comes next is another thought.
    fileprivate var isClosed: Bool { signature != nil || sealed != nil }
}
