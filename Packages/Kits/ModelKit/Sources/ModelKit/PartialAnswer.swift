public import Capabilities

/// The part of an answer that has arrived so far, as message parts.
///
/// An event costs no more than its own text, however long the answer is. A store can take out the parts so far while more
/// arrives, and join them again when it reads them.
public struct PartialAnswer: Sendable {
    private enum Kind { case text, reasoning, refusal }

    private var done: [Message.Part] = []
    /// The growing text, kept separately so that appending never copies it.
    private var growing = ""
    private var kind: Kind?
    /// The beginning of a growing thought that was already taken out to be stored.
    private var taken = ""

    /// What the server reported at the start; nil before that.
    public private(set) var start: ChatStart?
    /// The usage so far; nil if the server has reported none.
    public private(set) var usage: Usage?

    /// An answer of which nothing has arrived.
    public init() {}

    /// Joins parts that were taken out one after the other.
    public init(joining parts: [Message.Part]) {
        for part in parts { join(part) }
    }

    /// Everything that has arrived, with the growing part at the end.
    public var parts: [Message.Part] {
        guard let kind else { return done }
        return done + [Self.part(kind, growing)]
    }
}

// MARK: Adding

extension PartialAnswer {
    /// Adds an event. Pieces of one kind that follow each other become one part.
    public mutating func add(_ event: ChatEvent) {
        switch event {
        case .began(let start): self.start = start
        case .text(let text): grow(.text, text)
        case .reasoning(let text): grow(.reasoning, text)
        case .thought(let end):
            // The thought ends here. Its signature covers the whole text, including the part already stored, because a
            // changed thought is refused.
            var thought = end
            if isThinking {
                thought.text = end.isProven ? taken + growing : growing
                (kind, growing) = (nil, "")
            }
            append(.reasoning(thought))
        case .refusal(let text): grow(.refusal, text)
        case .call(let call): append(.call(call))
        case .malformedCall(let call): append(.malformedCall(call))
        case .result(let result): append(.result(result))
        case .usage(let usage): self.usage = usage
        case .calling, .notice: break
        }
    }

    /// Adds a whole part, which stays as it is.
    public mutating func append(_ part: Message.Part) {
        close()
        taken = ""
        done.append(part)
    }

    /// Whether a thought grows, or all of it was taken out to be stored.
    private var isThinking: Bool { kind == .reasoning || kind == nil && !taken.isEmpty }

    private mutating func grow(_ kind: Kind, _ text: String) {
        if kind != self.kind {
            close()
            if kind != .reasoning { taken = "" }
        }
        self.kind = kind
        growing += text
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

// MARK: Taking out and joining

extension PartialAnswer {
    /// The parts that can be stored now, the answer they came from, and the rest that waits for more. The beginning of a
    /// possible secret waits.
    public func kept(by redactor: Redactor?) -> (parts: [Message.Part], source: PartialAnswer, rest: PartialAnswer) {
        var stored = redactor?.kept(Message(.assistant, done)).parts ?? done
        var (source, rest) = (self, PartialAnswer())
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

    /// Adds later events after those that could not be stored.
    public mutating func add(_ more: PartialAnswer) {
        for part in more.parts { join(part) }
    }

    private mutating func join(_ part: Message.Part) {
        switch part {
        case .text(let text): grow(.text, text)
        case .refusal(let text): grow(.refusal, text)
        case .reasoning(let thought) where !thought.isProven: grow(.reasoning, thought.text)
        case .reasoning(let thought) where isThinking: join(thought)
        default: append(part)
        }
    }

    /// A signed thought is stored whole, even if its beginning was stored before. Any other text is only the rest of a
    /// thought, as older versions stored it, and is kept unsigned.
    private mutating func join(_ thought: Reasoning) {
        // A thought without text is sealed as a whole.
        if thought.signature == nil, thought.text.isEmpty { return append(.reasoning(thought)) }
        guard thought.text.utf8.starts(with: (taken + growing).utf8) else { return grow(.reasoning, thought.text) }
        (kind, growing) = (nil, "")
        append(.reasoning(thought))
    }
}

extension Reasoning {
    /// Whether it ended with the signature that the provider wants back with the whole text.
    fileprivate var isProven: Bool { signature != nil || sealed != nil }
}
