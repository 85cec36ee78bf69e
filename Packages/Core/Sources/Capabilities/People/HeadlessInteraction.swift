public import JSON

/// Answers from what was given beforehand, by question id, and otherwise fails at once: it never waits.
public struct HeadlessInteraction: Interaction {
    private let answers: [String: JSON]

    public init(answers: [String: JSON] = [:]) {
        self.answers = answers
    }

    public var canAsk: Bool { false }

    public func answer(_ question: Question) async throws -> Answer {
        guard let given = answers[question.id] else {
            if case .text(let standard?) = question.kind { return .text(standard) }
            throw InteractionError.unanswered(id: question.id, prompt: question.prompt)
        }
        func unfit(_ why: String) -> InteractionError { .unfit(id: question.id, why: why) }
        switch question.kind {
        case .text:
            guard let text = given.string else { throw unfit("must be text, not \(given.kindName)") }
            return .text(text)
        case .secret:
            guard let text = given.string else { throw unfit("must be text, not \(given.kindName)") }
            return .secret(Secret(text))
        case .choice(let options):
            guard let index = given.string.flatMap(options.firstIndex(of:)) else {
                throw unfit("must be one of \(options.joined(separator: ", "))")
            }
            return .choice(index)
        case .confirm:
            guard let yes = given.bool else { throw unfit("must be true or false, not \(given.kindName)") }
            return .confirm(yes)
        case .composition(let history, _):
            // One text, or several that are composed one after the other. Then the input ends, or it would never.
            let texts = given.array ?? (given.isNull ? [] : [given])
            let lines = texts.compactMap(\.string)
            guard lines.count == texts.count else {
                throw unfit("must be text, a list of texts, or null, not \(given.kindName)")
            }
            let left = lines.filter { !$0.isEmpty }.dropFirst(history.count)
            return .composition(left.first)
        }
    }
}
