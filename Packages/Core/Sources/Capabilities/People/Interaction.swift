public import JSON

/// Asks the person. A terminal asks interactively; a headless run uses only answers that were provided.
public protocol Interaction: Sendable {
    /// Whether a person is there to answer.
    var canAsk: Bool { get }
    /// The same without the person: only answers that were provided count.
    var unattended: any Interaction { get }
    /// Whether the values of a form are asked together, so that it costs the person nothing to see optional ones too.
    var showsForms: Bool { get }
    /// Lets a program have the person's terminal until it ends, such as an editor, if this interaction holds the terminal
    /// itself.
    ///
    /// - Parameter command: the program, by path or name, and its arguments.
    /// - Returns: the exit status as a shell says it; nil if the terminal is free, so that whoever asks runs the program.
    func lendTerminal(to command: [String], environment: [String: String]) async throws -> Int32?
    /// Waits for the answer to a question.
    ///
    /// - Throws: `InteractionError` if nobody can answer or the person declined.
    func answer(_ question: Question) async throws -> Answer
}

/// A question that only a person can answer.
public struct Question: Sendable {
    /// A stable dotted id (`auth.passphrase`), used to provide the answer to a headless run.
    public let id: String
    /// The text of the question.
    public let prompt: String
    /// The form of the answer.
    public let kind: Kind
    /// What the answer is for, which says who may give it.
    public let purpose: Purpose

    /// What an answer is for.
    public enum Purpose: Sendable, Hashable {
        /// A value that the work needs. Nothing becomes allowed by it, so another program may ask its own user.
        case value
        /// A decision that only the person may make: an approval, trust, a secret, or what is lost.
        case decision
    }

    /// The form of an answer, with what a frontend needs to ask for it.
    public enum Kind: Sendable {
        /// One line of text, and the text that an empty line stands for; nil if there is none.
        case text(default: String?)
        /// A text that is not echoed.
        case secret
        /// One of these options.
        case choice([String])
        /// Yes or no.
        case confirm
        /// A text of any number of lines. The history contains earlier texts, the oldest first. Completions are whole
        /// words, such as commands, that the person may complete.
        case composition(history: [String], completions: [String])
        /// Several values.
        case form(ValueForm)

        /// The kind in a word.
        var word: String {
            switch self {
            case .text: "text"
            case .secret: "secret"
            case .choice: "choice"
            case .confirm: "confirm"
            case .composition: "composition"
            case .form: "form"
            }
        }
    }

    /// The id must not change in later versions, because people provide answers under it.
    ///
    /// - Parameter purpose: nil for a value if the answer is a text, and a decision otherwise. A confirmation or a secret
    ///   is always a decision.
    public init(_ id: String, _ prompt: String, _ kind: Kind, for purpose: Purpose? = nil) {
        self.id = id
        self.prompt = prompt
        self.kind = kind
        self.purpose =
            switch kind {
            case .confirm, .secret: .decision
            case .text, .composition, .form: purpose ?? .value
            // Approvals are choices too, and nobody may mistake one for a value because its author said nothing.
            case .choice: purpose ?? .decision
            }
    }
}

/// The person's answer, in the form that the question asked for.
public enum Answer: Sendable {
    /// A line of text, which may be empty.
    case text(String)
    /// The secret that was entered or provided.
    case secret(Secret)
    /// The index of the option that was selected.
    case choice(Int)
    /// Whether the person agreed.
    case confirm(Bool)
    /// Nil if the person ended the input.
    case composition(WrittenText?)
    /// The values by name, as the form declares them.
    case form(JSONObject)
}

/// A text of any number of lines that a person has written.
public struct WrittenText: Sendable, Hashable {
    /// The whole text.
    public let text: String
    /// The text as the person saw it. A long paste may be a single character in it, or a few words.
    public let seen: String

    /// By default all of it was seen.
    public init(_ text: String, seen: String? = nil) {
        self.text = text
        self.seen = seen ?? text
    }
}

extension Interaction {
    public var unattended: any Interaction { canAsk ? HeadlessInteraction() : self }
    public var showsForms: Bool { false }
    public func lendTerminal(to command: [String], environment: [String: String]) async throws -> Int32? { nil }

    /// Waits for the answer to a question, and records how long that takes, but never the answer.
    public func ask(_ question: Question) async throws -> Answer {
        try await Tracer.current.span("question \(question.id)", of: "person") { span in
            span.set("martlet.question.kind", .string(question.kind.word))
            return try await answer(question)
        }
    }

    /// Asks for a line of text; an empty line selects the default, if there is one.
    public func text(_ id: String, _ prompt: String, default defaultValue: String? = nil) async throws -> String {
        guard case .text(let text) = try await ask(Question(id, prompt, .text(default: defaultValue))) else {
            throw InteractionError.wrongKind(id)
        }
        return text.isEmpty ? defaultValue ?? "" : text
    }

    /// Asks for a secret, which is never echoed.
    public func secret(_ id: String, _ prompt: String) async throws -> Secret {
        guard case .secret(let secret) = try await ask(Question(id, prompt, .secret)) else {
            throw InteractionError.wrongKind(id)
        }
        return secret
    }

    /// Asks for one of several options and returns its index.
    ///
    /// - Parameter purpose: `value` if nothing becomes allowed by any of the options.
    public func choice(
        _ id: String, _ prompt: String, among options: [String], for purpose: Question.Purpose = .decision
    ) async throws -> Int {
        guard case .choice(let index) = try await ask(Question(id, prompt, .choice(options), for: purpose)),
            options.indices.contains(index)
        else { throw InteractionError.wrongKind(id) }
        return index
    }

    /// Asks for confirmation; only a clear yes counts.
    public func confirm(_ id: String, _ prompt: String) async throws -> Bool {
        guard case .confirm(let yes) = try await ask(Question(id, prompt, .confirm)) else {
            throw InteractionError.wrongKind(id)
        }
        return yes
    }

    /// Asks for a text of any number of lines; nil if the person ended the input (Ctrl-D).
    ///
    /// - Parameters:
    ///   - history: earlier texts, the oldest first.
    ///   - completions: whole words beginning with `/` or `@`, which the person may complete.
    public func composition(
        _ id: String, _ prompt: String, history: [String] = [], completions: [String] = []
    ) async throws -> WrittenText? {
        let question = Question(id, prompt, .composition(history: history, completions: completions))
        guard case .composition(let text) = try await ask(question) else {
            throw InteractionError.wrongKind(id)
        }
        return text
    }
}

/// Why a question was not answered.
public enum InteractionError: Failure, Hashable {
    /// Nobody is there, and no answer was provided.
    case unanswered(id: String, prompt: String)
    /// The person said no.
    case declined(id: String)
    /// The provided answer does not fit the question.
    case unfit(id: String, why: String)
    /// A frontend returned an answer of the wrong kind.
    case wrongKind(String)

    /// Whether a provided answer was wrong, as opposed to nobody being there.
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
        // The person answered, so `.unanswered` would be wrong. The command did nothing, and no other code fits.
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
            "there is nobody to answer '\(prompt)'; run it on a terminal, or provide an answer for '\(id)'"
        case .declined: "nothing was changed"
        case .unfit(let id, let why): "the answer given for '\(id)' \(why)"
        case .wrongKind(let id): "the frontend answered '\(id)' with the wrong kind of answer"
        }
    }
}

/// Answers with what was provided, by question id, and otherwise fails at once. It never waits.
public struct HeadlessInteraction: Interaction {
    private let answers: [String: JSON]

    /// - Parameter answers: by question id. A text for texts, secrets and options, true or false for a confirmation,
    ///   and a text, a list of texts or null for a composition.
    public init(answers: [String: JSON] = [:]) {
        self.answers = answers
    }

    public var canAsk: Bool { false }

    public func answer(_ question: Question) async throws -> Answer {
        // An object has all values; otherwise each has an id, and that of the form may be agreed to.
        if case .form(let form) = question.kind, answers[question.id]?.object == nil {
            return .form(try await form.filled(question.id, one: answer))
        }
        guard let given = answers[question.id] else {
            if case .text(let defaultValue?) = question.kind { return .text(defaultValue) }
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
        case .form(let form):
            guard let values = given.object else { throw unfit("must be an object, not \(given.kindName)") }
            return .form(try form.checked(values, of: question.id))
        case .composition(let history, _):
            // One text, or several that are used one after the other. Then the input ends, because otherwise it never
            // would.
            let texts = given.array ?? (given.isNull ? [] : [given])
            let lines = texts.compactMap(\.string)
            guard lines.count == texts.count else {
                throw unfit("must be text, a list of texts, or null, not \(given.kindName)")
            }
            let left = lines.filter { !$0.isEmpty }.dropFirst(history.count)
            return .composition(left.first.map { WrittenText($0) })
        }
    }
}
