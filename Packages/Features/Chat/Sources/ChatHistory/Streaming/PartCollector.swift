import Capabilities

/// Makes parts of what comes piece by piece.
struct PartCollector: Sendable {
    private enum Kind { case text, reasoning, refusal }

    private var done: [Message.Part] = []
    /// The text that still grows, apart from the rest, so that appending never copies it.
    private var growing = ""
    private var kind: Kind?

    private(set) var start: ChatStart?
    private(set) var usage: Usage?

    init() {}

    /// Pieces that were stored one after the other, as one.
    init(joining parts: [Message.Part]) {
        for part in parts { add(part) }
    }

    var isEmpty: Bool { done.isEmpty && kind == nil }

    var parts: [Message.Part] {
        guard let kind else { return done }
        return done + [Self.part(kind, growing)]
    }

    /// What can be stored now, and what waits for more.
    func kept(by redactor: Redactor?) -> (parts: [Message.Part], rest: PartCollector) {
        guard let redactor else { return (parts, PartCollector()) }
        var stored = redactor.kept(Message(.assistant, done)).parts
        var rest = PartCollector()
        if let kind {
            let (kept, waiting) = redactor.keptSoFar(growing)
            if !kept.isEmpty { stored.append(Self.part(kind, kept)) }
            if !waiting.isEmpty { (rest.kind, rest.growing) = (kind, waiting) }
        }
        return (stored, rest)
    }

    mutating func add(_ event: ChatEvent) {
        switch event {
        case .began(let start): self.start = start
        case .text(let text): grow(.text, text)
        case .reasoning(let text): grow(.reasoning, text)
        case .thought(let end):
            // Its text grew until here, and what proves it goes with that.
            var thought = end
            if kind == .reasoning {
                thought.text = growing
                (kind, growing) = (nil, "")
            }
            finish(.reasoning(thought))
        case .refusal(let text): grow(.refusal, text)
        case .call(let call): finish(.call(call))
        case .malformedCall(let call): finish(.malformedCall(call))
        case .result(let result): finish(.result(result))
        case .usage(let usage): self.usage = usage
        case .calling, .notice: break
        }
    }

    private mutating func add(_ part: Message.Part) {
        switch part {
        case .text(let text): grow(.text, text)
        case .refusal(let text): grow(.refusal, text)
        case .reasoning(let thought) where thought.signature == nil && thought.sealed == nil:
            grow(.reasoning, thought.text)
        default: finish(part)
        }
    }

    private mutating func grow(_ kind: Kind, _ text: String) {
        if kind != self.kind { close() }
        self.kind = kind
        growing += text
    }

    private mutating func finish(_ part: Message.Part) {
        close()
        done.append(part)
    }

    private mutating func close() {
        if let kind { done.append(Self.part(kind, growing)) }
        kind = nil
        growing = ""
    }

    private static func part(_ kind: Kind, _ text: String) -> Message.Part {
        switch kind {
        case .text: .text(text)
        case .reasoning: .reasoning(Reasoning(text))
        case .refusal: .refusal(text)
        }
    }
}
