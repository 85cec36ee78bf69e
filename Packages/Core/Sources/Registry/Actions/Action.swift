public import Capabilities
public import JSON

/// One thing that can be done, declared once for every surface.
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
    public let effect: Effect
    public let parameters: [ParameterDeclaration]
    /// The shape of the result, made when it is asked for: most commands need the shape of one action only.
    public var result: Schema { resultShape() }
    private let resultShape: @Sendable () -> Schema
    /// More than the summary, for the help page.
    public private(set) var details = ""
    public private(set) var examples: [Example] = []
    /// What it may ask the person, whose answers can be given beforehand.
    public var questions: [AskedQuestion] {
        let agreed =
            effect == .destroys || destroyingFlag != nil
            ? [AskedQuestion(id: agreementID, summary: "Whether to go on: true or false")] : []
        let secrets = parameters.filter { $0.form == .secret && $0.isRequired }
            .map { AskedQuestion(id: questionID(of: $0), summary: $0.summary) }
        return asked + secrets + agreed
    }
    private var asked: [AskedQuestion] = []
    /// The flag with which it destroys something, where it does not without.
    public private(set) var destroyingFlag: String?
    /// A word of its own on the command line.
    public private(set) var alias: String?
    /// Whether its group means this action when the next word is no verb.
    public private(set) var isDefault = false
    /// Whether it sends events while it runs.
    public private(set) var isStreaming = false
    /// Whether it must work with broken settings and features, because it is needed to mend them.
    public private(set) var worksAlways = false
    /// Whether it finishes without waiting for anything.
    public private(set) var isInstant = false
    /// Whether lists leave it out.
    public private(set) var isHidden = false
    /// Whether it reaches others than this machine, or costs something.
    public private(set) var sends = false
    /// To whom it is offered besides the person.
    public private(set) var offer = ActionOffer.bundles
    private let body: @Sendable (JSONObject, ActionContext) async throws -> any OutputValue
    private var loss: (@Sendable (JSONObject, ActionContext) async throws -> String?)?

    /// A command line that shows the action at work.
    public struct Example: Sendable, Hashable {
        public let command: String
        public let summary: String
    }

    /// A question that it may ask.
    public struct AskedQuestion: Sendable, Hashable {
        /// By which `--answers` gives the answer.
        public let id: String
        /// What the answer is.
        public let summary: String
    }

    /// By which a person is asked whether something shall be destroyed.
    public var agreementID: String { "confirm.\(id)" }

    /// By which a person is asked for a secret that was not given otherwise.
    public func questionID(of parameter: ParameterDeclaration) -> String { "\(id).\(parameter.name)" }

    public init<each Value: InputValue, Result: OutputValue>(
        _ id: String, _ summary: String, _ effect: Effect, _ parameter: repeat Parameter<each Value>,
        body: @escaping @Sendable (ActionContext, repeat each Value) async throws -> Result
    ) {
        var declarations: [ParameterDeclaration] = []
        for one in repeat each parameter { declarations.append(one.declaration) }
        self.id = id
        self.summary = summary
        self.effect = effect
        parameters = declarations
        resultShape = { Result.schema }
        // By their places and without their types: to look at a pack of values takes longer than to read them.
        var erased: [any AnyParameter] = []
        for one in repeat each parameter { erased.append(one) }
        let readers = erased
        self.body = { arguments, context in
            var next = readers.makeIterator()
            return try await body(context, repeat try (each Value).read(from: &next, in: arguments))
        }
    }

    /// An action whose arguments are one value, with the parameters that are bound to its properties.
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

    /// Does it with arguments that were checked.
    func perform(_ arguments: JSONObject, in context: ActionContext) async throws -> any OutputValue {
        try await body(arguments, context)
    }

    /// The question before something is destroyed, which names it; nil where there is nothing to lose, and so to ask.
    ///
    /// - Throws: what the action would throw for something that is not there, so that nobody is asked about it.
    func question(before arguments: JSONObject, in context: ActionContext) async throws -> String? {
        if let loss { return try await loss(arguments, context).map { "\($0). Go on?" } }
        let words = parameters.filter { $0.form == .positional }.flatMap { parameter in
            let value = arguments[parameter.name]
            return value?.array?.compactMap(\.string) ?? [value?.string].compactMap { $0 }
        }
        let about = words.isEmpty ? "" : " (\(words.map { PlainText.escape($0) }.joined(separator: ", ")))"
        return "\(summary)\(about). Go on?"
    }

    /// How far it goes with these arguments.
    public func effect(of arguments: JSONObject) -> Effect {
        if let destroyingFlag, arguments[destroyingFlag] == true { return .destroys }
        return effect
    }

    /// Everything in which the arguments differ from the declaration; of more than `SchemaProblems.limit` the first.
    public func problems(in arguments: JSONObject) -> [ValueError] {
        var problems = SchemaProblems()
        for parameter in parameters {
            if let value = arguments[parameter.name] {
                problems.check(value, parameter.schema, at: parameter.name)
            } else if parameter.isRequired {
                problems.add("is missing: \(parameter.summary)", at: parameter.name)
            }
        }
        let names = parameters.map(\.name)
        for (name, _) in arguments where !names.contains(name) {
            if problems.isFull { break }
            problems.add("is no parameter of \(id)\(Suggestion.text(for: name, among: names))", at: name)
        }
        return problems.all
    }

    /// JSON Schema 2020-12 of the arguments, as bundles, JSON-RPC and MCP take them.
    public var inputSchema: JSONObject {
        let properties = parameters.map { parameter in
            let schema = parameter.isRequired ? parameter.schema : Schema.optional(parameter.schema.unwrapped)
            return Schema.Property(parameter.name, parameter.summary, schema)
        }
        var schema: JSONObject = ["$schema": "https://json-schema.org/draft/2020-12/schema"]
        for (name, value) in Schema.record(properties).jsonSchema { schema.append(name, value) }
        guard var members = schema["properties"]?.object else { return schema }
        for parameter in parameters {
            guard let standard = parameter.standard, !standard.isNull, var member = members[parameter.name]?.object
            else { continue }
            member["default"] = standard
            members[parameter.name] = .object(member)
        }
        schema["properties"] = .object(members)
        return schema
    }
}

extension Action {
    /// What these arguments name that a grant decides about.
    func requests(in arguments: JSONObject, from folder: String) -> [GrantRequest] {
        var requests: [GrantRequest] = []
        for parameter in parameters {
            guard let value = arguments[parameter.name] else { continue }
            requests += parameter.schema.requests(in: value, from: folder)
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

    /// More than the summary: paragraphs for the help page and the reference.
    public func details(_ text: String) -> Action { with { $0.details = text } }
    /// A command line that shows it at work; a test runs the parser over each.
    public func example(_ command: String, _ summary: String) -> Action {
        with { $0.examples.append(Example(command: command, summary: summary)) }
    }
    /// A question that its body may ask, by its id; the help page lists them, for `--answers`.
    public func question(_ id: String, _ summary: String) -> Action {
        with { $0.asked.append(AskedQuestion(id: id, summary: summary)) }
    }
    /// What would be lost, as a sentence that names it and stands before "Go on?"; nil where there is nothing to lose.
    /// It changes nothing, and throws what the action throws for something that is not there. Without it the question is
    /// the summary with the arguments.
    public func losing(
        _ loss: @escaping @Sendable (JSONObject, ActionContext) async throws -> String?
    ) -> Action { with { $0.loss = loss } }
    /// With this flag it destroys something: the person is asked first, and whoever may do no more than its effect may not.
    public func destroying(with flag: String) -> Action { with { $0.destroyingFlag = flag } }
    /// A top-level word that means this action.
    public func alias(_ word: String) -> Action { with { $0.alias = word } }
    /// Done when the word after the group is no verb.
    public func asDefault() -> Action { with { $0.isDefault = true } }
    /// Sends events while it runs, so that machine formats print a stream.
    public func streaming() -> Action { with { $0.isStreaming = true } }
    /// Works even when settings or features are broken.
    public func always() -> Action { with { $0.worksAlways = true } }
    /// Finishes without waiting or much work: it runs on the thread that the command began on, which saves starting more.
    public func instant() -> Action { with { $0.isInstant = true } }
    /// Leaves this machine, or costs something: it speaks to a server, or asks a model.
    public func sending() -> Action { with { $0.sends = true } }
    /// May be offered to models, as a tool: it reads our own state, and nothing that a model could send away by it.
    public func forModels() -> Action { with { $0.offer = .models } }
    /// Done by a bundle only if that names it: it changes what others may do, such as settings, trust, keys or rules.
    public func byName() -> Action { with { $0.offer = .byName } }
    /// Left out of lists: for programs, not for people.
    public func hidden() -> Action { with { $0.isHidden = true } }
}

/// Wrong arguments, all of them.
public struct ArgumentsFailure: Failure {
    public let action: String
    public let problems: [ValueError]

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
    /// Names that every frontend keeps for itself, so that they mean the same with every action.
    public static let reservedNames = [
        "help", "format", "json", "output-format", "quiet", "verbose", "only", "set", "profile", "color", "yes",
        "timeout", "no-input", "version", "answers",
    ]

    /// Letters that every frontend keeps for itself.
    public static let reservedLetters: [Character] = ["h", "q", "v", "y"]

    /// Everything in which the declaration contradicts itself, as the rest of "the action …, which".
    ///
    /// Every action is looked at when the program starts, so its few names are compared and not hashed.
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
                if !short.isASCII || !short.isLetter { found.append("has the letter -\(short), which is no letter") }
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
                found.append("takes the path \(name) and does not say what for")
            }
            if let standard = parameter.standard, let problem = parameter.schema.problems(in: standard).first {
                found.append("has a default for \(name) that \(problem.description)")
            }
        }
        if let destroyingFlag, !parameters.contains(where: { $0.form == .flag && $0.name == destroyingFlag }) {
            found.append("destroys with --\(destroyingFlag), which is no flag of it")
        }
        if offer == .models { found += contradictionsForModels }
        for parameter in parameters where parameter.form == .flag && names.contains("no-" + parameter.name) {
            found.append("has both --\(parameter.name) and --no-\(parameter.name)")
        }
        return found
    }

    /// What a model can name, it can have read and sent away; what it can change, it can be talked into changing.
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
