import Capabilities
import ModelKit

/// The parts of an answer in the order in which they arrived, with a limit on their size.
struct AnswerParts: Sendable {
    enum Kind: Sendable { case text, reasoning, refusal }

    static let largestText = 16 << 20
    /// The size of a part besides its text, so that many small ones are limited too.
    private static let partSize = 128

    private var closed: [Message.Part] = []
    /// The part that is still growing.
    private var kind: Kind?
    private var text = ""
    private var size = 0

    private(set) var hasText = false
    private(set) var hasRefusal = false
    private(set) var hasCalls = false
    /// Whether there are calls that need results.
    private(set) var hasOpenCalls = false

    var hasAnswer: Bool { hasText || hasRefusal || hasCalls }

    mutating func append(_ piece: String, _ kind: Kind) throws(DialectError) {
        if self.kind != kind {
            try charge(Self.partSize)
            close()
            self.kind = kind
            if kind == .text { hasText = true }
            if kind == .refusal { hasRefusal = true }
        }
        try charge(piece.utf8.count)
        text += piece
    }

    /// Adds a call or a result, and emits it.
    mutating func add(_ part: Message.Part, _ events: inout [ChatEvent]) {
        close()
        closed.append(part)
        switch part {
        case .call(let call):
            hasCalls = true
            if !call.isDone { hasOpenCalls = true }
            events.append(.call(call))
        case .malformedCall(let call):
            (hasCalls, hasOpenCalls) = (true, true)
            events.append(.malformedCall(call))
        case .result(let result): events.append(.result(result))
        default: break
        }
    }

    /// Counts what is kept elsewhere for the same answer.
    mutating func charge(_ bytes: Int) throws(DialectError) {
        size += bytes
        guard size <= Self.largestText else {
            throw DialectError(
                .tooLarge, "the answer has more than \(Self.largestText >> 20) MiB of text; ask for a shorter one")
        }
    }

    /// All parts, with the reasoning to be sent back unchanged attached to the first reasoning part.
    func all(sealed: String?) -> [Message.Part] {
        var parts = closed
        if let open { parts.append(open) }
        guard let sealed else { return parts }
        for (place, part) in parts.enumerated() {
            guard case .reasoning(var reasoning) = part else { continue }
            reasoning.sealed = sealed
            parts[place] = .reasoning(reasoning)
            return parts
        }
        return [.reasoning(Reasoning("", sealed: sealed))] + parts
    }

    private mutating func close() {
        if let open { closed.append(open) }
        (kind, text) = (nil, "")
    }

    private var open: Message.Part? {
        switch kind {
        case .text: .text(text)
        case .reasoning: .reasoning(Reasoning(text))
        case .refusal: .refusal(text)
        case nil: nil
        }
    }
}
