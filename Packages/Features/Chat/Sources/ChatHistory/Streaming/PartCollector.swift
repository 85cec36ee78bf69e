import Capabilities

/// Makes parts of what comes piece by piece.
struct PartCollector: Sendable {
    private enum Kind { case text, reasoning, refusal }

    private var done: [Message.Part] = []
    /// The text that still grows, apart from the rest, so that appending never copies it.
    private var growing = ""
    private var kind: Kind?
    /// The beginning, as it came, of the thought that grows, where it was taken out to be stored.
    private var taken = ""

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

    /// What can be stored now, what it was taken from, and what waits for more.
    func kept(by redactor: Redactor?) -> (parts: [Message.Part], source: PartCollector, rest: PartCollector) {
        var stored = redactor?.kept(Message(.assistant, done)).parts ?? done
        var (source, rest) = (self, PartCollector())
        guard let kind else {
            if done.isEmpty { rest.taken = taken }
            return (stored, source, rest)
        }
        let (kept, waiting) = redactor?.keptSoFar(growing) ?? (growing, "")
        if !kept.isEmpty { stored.append(Self.part(kind, kept)) }
        if !waiting.isEmpty {
            (rest.kind, rest.growing) = (kind, waiting)
            source.growing = String(decoding: growing.utf8.dropLast(waiting.utf8.count), as: UTF8.self)
            if source.growing.isEmpty { source.kind = nil }
        }
        if kind == .reasoning { rest.taken = taken + source.growing }
        return (stored, source, rest)
    }

    /// What came since, behind what could not be stored.
    mutating func add(_ more: PartCollector) {
        for part in more.parts { add(part) }
    }

    mutating func add(_ event: ChatEvent) {
        switch event {
        case .began(let start): self.start = start
        case .text(let text): grow(.text, text)
        case .reasoning(let text): grow(.reasoning, text)
        case .thought(let end):
            // Its text grew until here, and what proves it goes with all of that: also with what is stored already, since
            // a thought that is not as the provider said it is refused.
            var thought = end
            if isThinking {
                thought.text = end.isProven ? taken + growing : growing
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
        case .reasoning(let thought) where !thought.isProven: grow(.reasoning, thought.text)
        case .reasoning(let thought) where isThinking: finish(with: thought)
        default: finish(part)
        }
    }

    /// A thought whose beginning was stored before it ended stands there whole once more. What does not begin like that is
    /// only the rest of one, as versions before this one stored it; it proves nothing then.
    private mutating func finish(with thought: Reasoning) {
        // One without any text is sealed as a whole.
        if thought.signature == nil, thought.text.isEmpty { return finish(.reasoning(thought)) }
        guard thought.text.utf8.starts(with: (taken + growing).utf8) else { return grow(.reasoning, thought.text) }
        (kind, growing) = (nil, "")
        finish(.reasoning(thought))
    }

    /// Whether a thought grows, or all that came of it was taken out.
    private var isThinking: Bool { kind == .reasoning || kind == nil && !taken.isEmpty }

    private mutating func grow(_ kind: Kind, _ text: String) {
        if kind != self.kind {
            close()
            if kind != .reasoning { taken = "" }
        }
        self.kind = kind
        growing += text
    }

    private mutating func finish(_ part: Message.Part) {
        close()
        taken = ""
        done.append(part)
    }

    private mutating func close() {
        guard let kind else { return }
        done.append(Self.part(kind, growing))
        self.kind = nil
        growing = ""
        taken = ""
    }

    private static func part(_ kind: Kind, _ text: String) -> Message.Part {
        switch kind {
        case .text: .text(text)
        case .reasoning: .reasoning(Reasoning(text))
        case .refusal: .refusal(text)
        }
    }
}

extension Reasoning {
    /// Whether it has ended with what the provider wants back, together with every word of it.
    fileprivate var isProven: Bool { signature != nil || sealed != nil }
}
