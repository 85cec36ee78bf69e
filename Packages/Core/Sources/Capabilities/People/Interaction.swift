public import JSON

/// Asks the person. A terminal asks for real; a headless run answers only from what it was given.
public protocol Interaction: Sendable {
    /// Whether somebody is there to answer.
    var canAsk: Bool { get }
    /// The same without the person: only what was answered beforehand is an answer.
    var unattended: any Interaction { get }
    /// Waits for the answer to a question.
    ///
    /// - Throws: `InteractionError` when nobody can answer, or the person declined to.
    func answer(_ question: Question) async throws -> Answer
}

/// Something that only a person can decide or know.
public struct Question: Sendable {
    /// A stable dotted id (`auth.passphrase`), by which a headless run can be given the answer beforehand.
    public let id: String
    /// What is asked, as a person reads it.
    public let prompt: String
    public let kind: Kind

    public enum Kind: Sendable {
        case text(default: String?)
        case secret
        case choice([String])
        case confirm
        /// A text of any number of lines. The history has what was composed before, the oldest first; completions are
        /// whole words, such as commands, for which a person may type the beginning.
        case composition(history: [String], completions: [String])
    }

    public init(_ id: String, _ prompt: String, _ kind: Kind) {
        self.id = id
        self.prompt = prompt
        self.kind = kind
    }
}

/// What the person said, in the form that the question asked for.
public enum Answer: Sendable {
    case text(String)
    case secret(Secret)
    case choice(Int)
    case confirm(Bool)
    /// Nil when the person ended the input instead.
    case composition(String?)
}

extension Interaction {
    public var unattended: any Interaction { canAsk ? HeadlessInteraction() : self }

    /// A line of text; an empty one is the default, where there is one.
    public func text(_ id: String, _ prompt: String, default standard: String? = nil) async throws -> String {
        guard case .text(let text) = try await answer(Question(id, prompt, .text(default: standard))) else {
            throw InteractionError.wrongKind(id)
        }
        return text.isEmpty ? standard ?? "" : text
    }

    /// A secret, never echoed.
    public func secret(_ id: String, _ prompt: String) async throws -> Secret {
        guard case .secret(let secret) = try await answer(Question(id, prompt, .secret)) else {
            throw InteractionError.wrongKind(id)
        }
        return secret
    }

    /// The index of the option that was chosen.
    public func choice(_ id: String, _ prompt: String, among options: [String]) async throws -> Int {
        guard case .choice(let index) = try await answer(Question(id, prompt, .choice(options))),
            options.indices.contains(index)
        else { throw InteractionError.wrongKind(id) }
        return index
    }

    /// A yes or no; only a clear yes is one.
    public func confirm(_ id: String, _ prompt: String) async throws -> Bool {
        guard case .confirm(let yes) = try await answer(Question(id, prompt, .confirm)) else {
            throw InteractionError.wrongKind(id)
        }
        return yes
    }

    /// A text that the person composes, of any number of lines; nil when they ended the input (Ctrl-D).
    ///
    /// - Parameters:
    ///   - history: what was composed before, the oldest first.
    ///   - completions: whole words beginning with `/`, which the person may complete.
    public func composition(
        _ id: String, _ prompt: String, history: [String] = [], completions: [String] = []
    ) async throws -> String? {
        let question = Question(id, prompt, .composition(history: history, completions: completions))
        guard case .composition(let text) = try await answer(question) else {
            throw InteractionError.wrongKind(id)
        }
        return text
    }
}

/// Why a question has no answer.
public enum InteractionError: Failure, Hashable {
    /// Nobody is there and the answer was not given beforehand.
    case unanswered(id: String, prompt: String)
    /// The person said no.
    case declined(id: String)
    /// The answer given beforehand does not fit the question.
    case unfit(id: String, why: String)
    /// A frontend answered with another kind than was asked.
    case wrongKind(String)

    /// Whether it is about an answer that was given beforehand, and not about who is there.
    public var isUnfit: Bool { if case .unfit = self { true } else { false } }

    public var code: String {
        switch self {
        case .unanswered: "interaction.unanswered"
        case .declined: "interaction.declined"
        case .unfit: "interaction.unfit-answer"
        case .wrongKind: "interaction.wrong-kind"
        }
    }

    public var exit: ExitCode {
        switch self {
        case .unfit: .usage
        // Somebody was there and answered. What the command was for is not done, and no other code says why.
        case .declined: .failed
        case .unanswered, .wrongKind: .unanswered
        }
    }

    public var details: JSONObject {
        switch self {
        case .unanswered(let id, _), .declined(let id), .unfit(let id, _), .wrongKind(let id): ["question": .string(id)]
        }
    }

    public var message: String {
        switch self {
        case .unanswered(let id, let prompt):
            "nobody is there to answer '\(prompt)'; run it on a terminal, or give the answer '\(id)' beforehand"
        case .declined: "nothing was changed"
        case .unfit(let id, let why): "the answer given for '\(id)' \(why)"
        case .wrongKind(let id): "the frontend answered '\(id)' in another form than was asked"
        }
    }
}

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
