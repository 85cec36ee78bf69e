public import Capabilities
public import JSON

/// An action, declared once for every surface.
///
/// The parameters' types are those of the body's arguments, so a declaration cannot disagree with its code:
///
/// ```swift
/// Action("weather.now", "The weather in a city right now", .reads,
///     .argument("city", "City to look up"),
///     .option("units", "Units of measure", default: Units.metric)
/// ) { context, city, units in
///     try await forecast(city, units)
/// }
/// .example("martlet weather now Bern --units imperial", "In Fahrenheit")
/// ```
public struct Action: Sendable {
    /// Dotted and lower-case; its words are the words of the command.
    public let id: String
    /// One line, without a final stop.
    public let summary: String
    /// What it changes, which determines who must agree to it.
    public let effect: Effect
    /// The parameters, in the order in which a command line takes them.
    public let parameters: [ParameterDeclaration]
    /// The shape of the result. It is built only when needed, because most commands need the shape of a single action.
    public var result: Schema { resultShape() }
    private let resultShape: @Sendable () -> Schema
    /// Additional text for the help page.
    public private(set) var details = ""
    /// Examples for the help page.
    public private(set) var examples: [Example] = []
    /// The questions it may ask the person. Their answers can be provided in advance.
    public var questions: [AskedQuestion] {
        let agreed =
            effect == .destroys && !isAgreedByCall || destroyingFlag != nil
            ? [AskedQuestion(id: agreementID, summary: "Whether to continue: true or false")] : []
        let secrets = parameters.filter { $0.form == .secret && $0.isRequired }
            .map { AskedQuestion(id: questionID(of: $0), summary: $0.summary) }
        return asked + secrets + agreed
    }
    private var asked: [AskedQuestion] = []
    /// The flag that makes it destructive, if it is not destructive without it.
    public private(set) var destroyingFlag: String?
    /// Whether the person is not asked before it destroys something, because their call says all that there is to know.
    public private(set) var isAgreedByCall = false
    /// A top-level word for it on the command line.
    public private(set) var alias: String?
    /// Whether its group runs this action when the next word is not a verb.
    public private(set) var isDefault = false
    /// Whether it sends events while it runs.
    public var isStreaming: Bool { declaredEvents != nil }
    /// The kinds of events that it sends; nil if they are not declared. They are built only when needed.
    public var events: [EventDeclaration]? { declaredEvents?() }
    private var declaredEvents: (@Sendable () -> [EventDeclaration])?
    /// Whether it runs even with invalid settings or features, because it is needed to fix them.
    public private(set) var worksAlways = false
    /// Whether it finishes without waiting for anything.
    public private(set) var isInstant = false
    /// Whether lists leave it out.
    public private(set) var isHidden = false
    /// Whether it sends something off this machine, or costs something.
    public private(set) var sends = false
    /// Whether its result has what was said in conversations, or what they are about. Whoever serves others keeps that back
    /// until the person exposes conversations.
    public private(set) var showsConversations = false
    /// Who may use it besides the person.
    public private(set) var offer = ActionOffer.bundles
    private var body: Body
    private var loss: (@Sendable (JSONObject, ActionContext) async throws -> String?)?

    /// Runs where its caller does, which saves a look at the executor.
    @usableFromInline
    typealias Body =
        nonisolated(nonsending) @Sendable (JSONObject, ActionContext) async throws -> any OutputValue

    /// An example command line.
    public struct Example: Sendable, Hashable {
        /// The whole command line, as a person types it.
        public let command: String
        /// What the command line shows, in one line.
        public let summary: String
    }

    /// A question that it may ask.
    public struct AskedQuestion: Sendable, Hashable {
        /// The id under which `--answers` provides the answer.
        public let id: String
        /// The meaning of the answer.
        public let summary: String
    }

    /// The id of the question before something is destroyed.
    public var agreementID: String { "confirm.\(id)" }

    /// The id of the question for a secret that was not given otherwise.
    public func questionID(of parameter: ParameterDeclaration) -> String { "\(id).\(parameter.name)" }

    /// The id without its last word.
    public var group: Substring {
        id.lastIndex(of: ".").map { id[..<$0] } ?? ""
    }

    // Inlinable, because generic code would look up the types of the values whenever the action is performed.

    /// - Parameter body: receives the context and a value for each parameter, and returns the result.
    @inlinable
    public init<each Value: InputValue, Result: OutputValue>(
        _ id: String, _ summary: String, _ effect: Effect, _ parameter: repeat Parameter<each Value>,
        body: @escaping @Sendable (ActionContext, repeat each Value) async throws -> Result
    ) {
        var declarations: [ParameterDeclaration] = []
        for one in repeat each parameter { declarations.append(one.declaration) }
        // Stored by position and without types, because looking up values in a parameter pack takes longer than reading
        // them.
        var erased: [ParameterReader] = []
        for one in repeat each parameter { erased.append(one.reader) }
        let readers = erased
        self.init(id, summary, effect, declarations, { Result.schema }) { arguments, context in
            var next = 0
            return try await body(context, repeat try (each Value).read(readers, at: &next, in: arguments))
        }
    }

    @usableFromInline
    init(
        _ id: String, _ summary: String, _ effect: Effect, _ parameters: [ParameterDeclaration],
        _ result: @escaping @Sendable () -> Schema, _ body: @escaping Body
    ) {
        self.id = id
        self.summary = summary
        self.effect = effect
        self.parameters = parameters
        resultShape = result
        self.body = body
    }

    /// An action whose arguments are a single value. Its parameters are bound to the value's properties.
    public init<Arguments: ActionArguments, Result: OutputValue>(
        _ id: String, _ summary: String, _ effect: Effect, taking: Arguments.Type,
        body: @escaping @Sendable (ActionContext, Arguments) async throws -> Result
    ) {
        self.id = id
        self.summary = summary
        self.effect = effect
        parameters = Arguments.bindings.map(\.declaration)
        resultShape = { Result.schema }
        self.body = { given, context in try await body(context, try Arguments(reading: given)) }
    }

    /// The declaration of something that only reads, and is performed as `performing(_:)` says.
    init(id: String, summary: String, parameters: [ParameterDeclaration]) {
        self.id = id
        self.summary = summary
        self.effect = .reads
        self.parameters = parameters
        resultShape = { Nothing.schema }
        body = { _, _ in Nothing() }
    }

    /// Performs the action with checked arguments.
    nonisolated(nonsending) func perform(
        _ arguments: JSONObject, in context: ActionContext
    ) async throws -> any OutputValue {
        try await body(arguments, context)
    }

    /// The question before something is destroyed, which names it; nil if there is nothing to lose.
    ///
    /// - Throws: what the action throws if the thing does not exist, so that nobody is asked about it.
    func question(before arguments: JSONObject, in context: ActionContext) async throws -> String? {
        if let loss { return try await loss(arguments, context).map { "\($0). Continue?" } }
        let words = parameters.filter { $0.form == .positional }.flatMap { parameter in
            let value = arguments[parameter.name]
            return value?.array?.compactMap(\.string) ?? [value?.string].compactMap { $0 }
        }
        let about = words.isEmpty ? "" : " (\(words.map { PlainText.escape($0) }.joined(separator: ", ")))"
        return "\(summary)\(about). Continue?"
    }

    /// The effect with these arguments.
    public func effect(of arguments: JSONObject) -> Effect {
        if let destroyingFlag, arguments[destroyingFlag] == true { return .destroys }
        return effect
    }

    /// All differences between the arguments and the declaration, up to `SchemaProblems.limit`.
    public func problems(in arguments: JSONObject) -> [ValueError] {
        var problems = SchemaProblems()
        // A copy of a whole declaration would cost as much as its check.
        for index in parameters.indices {
            if let value = arguments[parameters[index].name] {
                problems.check(value, parameters[index].schema, at: parameters[index].name)
            } else if parameters[index].isRequired {
                problems.add("is missing: \(parameters[index].summary)", at: parameters[index].name)
            }
        }
        for (name, _) in arguments where !parameters.contains(where: { $0.name == name }) {
            if problems.isFull { break }
            let suggestion = Suggestion.text(for: name, among: parameters.map { $0.name })
            problems.add("is not a parameter of \(id)\(suggestion)", at: name)
        }
        return problems.all
    }

    /// JSON Schema 2020-12 of the arguments, for bundles, JSON-RPC and MCP.
    public var inputSchema: JSONObject {
        let properties = parameters.map { $0.isRequired ? $0.property : $0.property.optional }
        var schema: JSONObject = ["$schema": "https://json-schema.org/draft/2020-12/schema"]
        for (name, value) in Schema.record(properties).jsonSchema { schema.append(name, value) }
        return schema
    }
}

extension Action {
    /// The requests that a grant must decide for these arguments.
    func requests(in arguments: JSONObject, from folder: String) -> [GrantRequest] {
        var requests: [GrantRequest] = []
        for index in parameters.indices {
            guard let value = arguments[parameters[index].name] else { continue }
            requests += parameters[index].schema.requests(in: value, from: folder)
        }
        return requests
    }
}

// MARK: What may be said of an action beyond its declaration

extension Action {
    private func with(_ change: (inout Action) -> Void) -> Action {
        var copy = self
        change(&copy)
        return copy
    }

    /// The same declaration with another body.
    func performing(_ body: @escaping Body) -> Action { with { $0.body = body } }
    /// Additional paragraphs for the help page and the reference.
    public func details(_ text: String) -> Action { with { $0.details = text } }
    /// An example command line; a test parses each of them.
    public func example(_ command: String, _ summary: String) -> Action {
        with { $0.examples.append(Example(command: command, summary: summary)) }
    }
    /// A question that the action may ask, by id. The help page lists it for `--answers`.
    public func question(_ id: String, _ summary: String) -> Action {
        with { $0.asked.append(AskedQuestion(id: id, summary: summary)) }
    }
    /// Describes what would be lost, as a sentence to put before "Continue?"; nil if there is nothing to lose. It must
    /// not change anything, and throws what the action throws if the thing does not exist. Without it, the question is
    /// the summary with the arguments.
    public func losing(
        _ loss: @escaping @Sendable (JSONObject, ActionContext) async throws -> String?
    ) -> Action { with { $0.loss = loss } }
    /// With this flag the action destroys something. The person is asked first, and callers limited to its basic effect
    /// may not use the flag.
    public func destroying(with flag: String) -> Action { with { $0.destroyingFlag = flag } }
    /// Does not ask the person before it destroys something, because their call says all that there is to know, such as which
    /// command is to be run. Others than the person need their agreement all the same.
    public func agreedByCall() -> Action { with { $0.isAgreedByCall = true } }
    /// A top-level word for this action.
    public func alias(_ word: String) -> Action { with { $0.alias = word } }
    /// Runs when the word after the group is not a verb.
    public func asDefault() -> Action { with { $0.isDefault = true } }
    /// Sends events of these kinds while it runs, so that machine formats print a stream.
    public func streaming(_ events: @autoclosure @escaping @Sendable () -> [EventDeclaration]) -> Action {
        with { $0.declaredEvents = events }
    }
    /// Runs even with invalid settings or features.
    public func always() -> Action { with { $0.worksAlways = true } }
    /// Finishes without waiting or much work. It runs on the thread of the command, so that no other thread is started.
    public func instant() -> Action { with { $0.isInstant = true } }
    /// Sends something off this machine, or costs something: it connects to a server or asks a model.
    public func sending() -> Action { with { $0.sends = true } }
    /// Its result has what was said in conversations, or what they are about.
    public func showingConversations() -> Action { with { $0.showsConversations = true } }
    /// Available to models as a tool. It must only read our own state, and nothing that a model could use to send data
    /// away.
    public func forModels() -> Action { with { $0.offer = .models } }
    /// Available only to bundles that name it, because it changes what others may do: settings, trust, keys or rules.
    public func byName() -> Action { with { $0.offer = .byName } }
    /// Hidden from lists: for programs, not for people.
    public func hidden() -> Action { with { $0.isHidden = true } }
}

/// The arguments are invalid; contains all problems.
public struct ArgumentsFailure: Failure {
    /// The id of the action.
    public let action: String
    /// What is wrong; each path begins with the name of a parameter.
    public let problems: [ValueError]

    /// Takes all problems at once, so that a person can fix them together.
    public init(action: String, problems: [ValueError]) {
        self.action = action
        self.problems = problems
    }

    public var code: String { "usage.arguments" }
    public var exit: ExitCode { .usage }
    public var message: String {
        problems.map { problem in
            let name = problem.path.joined(separator: ".")
            return name.isEmpty ? problem.message : "\(name) \(problem.message)"
        }.joined(separator: "\n")
    }
    public var details: JSONObject { ["action": .string(action)] }
}

extension Action {
    /// Names reserved by every frontend, so that they mean the same for every action.
    public static let reservedNames = [
        "help", "format", "json", "output-format", "quiet", "verbose", "only", "set", "profile", "color", "yes",
        "timeout", "no-input", "version", "answers",
    ]

    /// Letters reserved by every frontend.
    public static let reservedLetters: [Character] = ["h", "q", "v", "y"]

    /// All contradictions in the declaration, each as the rest of "the action …, which".
    ///
    /// Every action is checked when the program starts. Its few names are compared instead of hashed, which is faster.
    var contradictions: [String] {
        var found: [String] = []
        if !DottedName.isValid(id) { found.append("has a malformed id; ids are lower-case words joined by dots") }
        if summary.isEmpty || summary.hasSuffix(".") {
            found.append("needs a summary of one line without a final stop")
        }
        if let alias, !DottedName.isWord(alias) { found.append("has the malformed alias \(alias)") }
        var names: [String] = []
        var letters: [Character] = []
        var optional: String?
        var repeated: String?
        for parameter in parameters {
            let name = parameter.name
            if !DottedName.isWord(name) { found.append("has a parameter with the malformed name \(name)") }
            if names.contains(name) { found.append("has two parameters named \(name)") }
            names.append(name)
            if parameter.form != .positional, Self.reservedNames.contains(name) {
                found.append("has the option --\(name), which every command has already")
            }
            if let short = parameter.short {
                if Self.reservedLetters.contains(short) {
                    found.append("has the letter -\(short), which every command has already")
                }
                if letters.contains(short) { found.append("uses the letter -\(short) twice") }
                letters.append(short)
                if !short.isASCII || !short.isLetter { found.append("has the letter -\(short), which is not a letter") }
            }
            if parameter.form == .positional {
                if let repeated { found.append("has \(name) after \(repeated), which takes all words that are left") }
                if parameter.isRequired, let optional {
                    found.append("needs \(name) after \(optional), which may be left out")
                }
                if !parameter.isRequired { optional = name }
                if parameter.isRepeated { repeated = name }
                if parameter.schema.unwrapped == .secret { found.append("takes the secret \(name) as a word") }
            }
            if case .choice(let words) = parameter.schema.unwrapped, words.isEmpty {
                found.append("offers no choice for \(name)")
            }
            if parameter.schema.element?.unwrapped ?? parameter.schema.unwrapped == .path(.any) {
                found.append("takes the path \(name) without saying what it is for")
            }
            if let problem = parameter.property.defaultProblems.first {
                found.append("has a default for \(name) that \(problem.description)")
            }
        }
        if let destroyingFlag, !parameters.contains(where: { $0.form == .flag && $0.name == destroyingFlag }) {
            found.append("destroys with --\(destroyingFlag), which is not one of its flags")
        }
        if offer == .models { found += contradictionsForModels }
        for parameter in parameters where parameter.form == .flag && names.contains("no-" + parameter.name) {
            found.append("has both --\(parameter.name) and --no-\(parameter.name)")
        }
        return found
    }

    /// A model can read and send away whatever it can name, and can be talked into changing whatever it can change.
    private var contradictionsForModels: [String] {
        var found: [String] = []
        let farthest = destroyingFlag == nil ? effect : .destroys
        if farthest != .reads { found.append("is offered to models and \(farthest.rawValue) something") }
        if sends { found.append("is offered to models and sends something") }
        for parameter in parameters where parameter.schema.mayNameAnything {
            found.append("is offered to models and takes \(parameter.name) from them")
        }
        return found
    }
}

extension Schema {
    /// Whether a value can name a file, a server or a secret.
    fileprivate var mayNameAnything: Bool {
        switch self {
        case .path, .url, .host, .secret, .secretName, .program, .any: true
        case .array(let schema), .map(let schema), .optional(let schema): schema.mayNameAnything
        case .record(let properties): properties.contains(where: \.schema.mayNameAnything)
        case .boolean, .integer, .number, .string, .choice, .duration, .size, .time: false
        }
    }
}
