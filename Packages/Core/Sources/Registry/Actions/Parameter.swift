public import Capabilities
public import JSON

/// A parameter of an action, declared with its type.
///
/// ```swift
/// .argument("city", "City to look up")                       // a word
/// .argument("hosts", "Hosts to watch", as: [String].self)     // any number of words
/// .option("units", "Units of measure", default: Units.metric) // --units imperial
/// .option("limit", "Maximum number of results", as: Int?.self) // --limit 5, optional
/// .flag("all", "Also show hidden ones", short: "a")            // --all, -a
/// .secret("token", "Access token")                            // asked, or --token-stdin, --token-env NAME
/// ```
public struct Parameter<Value: InputValue>: Sendable {
    /// The parameter without its static type.
    public let declaration: ParameterDeclaration
    private let defaultValue: Value?

    private init(_ declaration: ParameterDeclaration, defaultValue: Value?) {
        self.declaration = declaration
        self.defaultValue = defaultValue
    }

    private init(
        _ form: ParameterDeclaration.Form, _ name: String, _ summary: String, short: String? = nil,
        schema: Schema = Value.schema, completion: Completion? = nil, defaultValue: Value? = nil, shown: JSON? = nil
    ) {
        let absent = defaultValue ?? Value.whenAbsent
        self.init(
            ParameterDeclaration(
                Schema.Property(name, summary, schema, defaultValue: shown), form: form, short: short.map(Self.letter),
                isRequired: absent == nil, completion: completion),
            defaultValue: absent)
    }

    /// Letters are passed as `String`, because a literal inside an action's parameter list cannot be a `Character`.
    /// Anything but a single letter becomes a mark that the declaration check refuses.
    private static func letter(_ text: String) -> Character {
        text.count == 1 ? Character(text) : "?"
    }

    /// A positional value. A list takes all remaining words.
    public static func argument(
        _ name: String, _ summary: String, as type: Value.Type = Value.self, completion: Completion? = nil
    ) -> Parameter {
        Parameter(.positional, name, summary, completion: completion)
    }

    /// A named value. An optional one may be omitted; a list may be given several times.
    public static func option(
        _ name: String, _ summary: String, as type: Value.Type = Value.self, short: String? = nil,
        completion: Completion? = nil
    ) -> Parameter {
        Parameter(.option, name, summary, short: short, completion: completion)
    }

    /// Reads the value from the arguments.
    func value(in arguments: JSONObject) throws(ValueError) -> Value {
        if let given = arguments[declaration.name] { return try Value.read(given, of: declaration.name) }
        guard let defaultValue else { throw ValueError("is missing", at: [declaration.name]) }
        return defaultValue
    }

    /// What the body of an action needs of the parameter.
    @usableFromInline
    var reader: ParameterReader { ParameterReader(name: declaration.name, defaultValue: defaultValue) }
}

/// The name of a parameter and its value if nothing is given. Only the action's body knows the type.
@usableFromInline
struct ParameterReader: Sendable {
    @usableFromInline let name: String
    let defaultValue: (any InputValue)?
}

extension InputValue {
    /// The value of the parameter at an index, which is then that of the next parameter.
    @inlinable @inline(__always)
    static func read(
        _ parameters: [ParameterReader], at index: inout Int, in arguments: JSONObject
    ) throws(ValueError) -> Self {
        defer { index += 1 }
        // A copy of a whole reader would cost more than the lookup.
        guard let given = arguments[parameters[index].name] else { return try absent(parameters[index]) }
        return try read(given, of: parameters[index].name)
    }

    @inlinable @inline(__always)
    static func read(_ given: JSON, of name: String) throws(ValueError) -> Self {
        do { return try Self(json: given) } catch { throw error.under(name) }
    }

    // Not inlined, so that a value that is given does not pay for looking up the optional type.
    @inline(never) @usableFromInline
    static func absent(_ parameter: ParameterReader) throws(ValueError) -> Self {
        guard let defaultValue = parameter.defaultValue as? Self else {
            throw ValueError("is missing", at: [parameter.name])
        }
        return defaultValue
    }
}

extension Parameter where Value: OutputValue {
    /// A positional value with a default.
    public static func argument(
        _ name: String, _ summary: String, default defaultValue: Value, completion: Completion? = nil
    ) -> Parameter {
        Parameter(
            .positional, name, summary, completion: completion, defaultValue: defaultValue, shown: defaultValue.json)
    }

    /// A named value with a default.
    public static func option(
        _ name: String, _ summary: String, default defaultValue: Value, short: String? = nil,
        completion: Completion? = nil
    ) -> Parameter {
        Parameter(
            .option, name, summary, short: short, completion: completion, defaultValue: defaultValue,
            shown: defaultValue.json)
    }
}

extension Parameter where Value == String {
    /// A positional word.
    public static func argument(_ name: String, _ summary: String) -> Parameter {
        Parameter(.positional, name, summary)
    }
}

extension Parameter where Value == String? {
    /// A text made of all remaining words of the command line: `martlet ask What is this?`
    public static func words(_ name: String, _ summary: String) -> Parameter {
        Parameter(
            ParameterDeclaration(Schema.Property(name, summary, Value.schema), form: .positional, joinsWords: true),
            defaultValue: .some(nil))
    }

    /// A text that may be piped into the command: `git diff | martlet ask "Review this"`.
    public static func piped(_ name: String, _ summary: String) -> Parameter {
        Parameter(
            ParameterDeclaration(Schema.Property(name, summary, Value.schema), form: .option, takesPipe: true),
            defaultValue: .some(nil))
    }
}

extension Parameter where Value == Bool {
    /// A switch: `--name` turns it on. If it is on by default, `--no-name` turns it off.
    public static func flag(
        _ name: String, _ summary: String, default defaultValue: Bool = false, short: String? = nil
    ) -> Parameter {
        Parameter(.flag, name, summary, short: short, defaultValue: defaultValue, shown: .bool(defaultValue))
    }
}

extension Parameter where Value == Int {
    /// A whole number within limits.
    public static func option(
        _ name: String, _ summary: String, in range: ClosedRange<Int>, default defaultValue: Int, short: String? = nil
    ) -> Parameter {
        Parameter(
            .option, name, summary, short: short, schema: .integer(range), defaultValue: defaultValue,
            shown: .int(defaultValue))
    }
}

extension Parameter where Value == Double {
    /// A number within limits.
    public static func option(
        _ name: String, _ summary: String, in range: ClosedRange<Double>, default defaultValue: Double,
        short: String? = nil
    ) -> Parameter {
        Parameter(
            .option, name, summary, short: short, schema: .number(range), defaultValue: defaultValue,
            shown: .double(defaultValue))
    }
}

extension Parameter where Value == Int? {
    /// An optional whole number within limits.
    public static func option(
        _ name: String, _ summary: String, in range: ClosedRange<Int>, short: String? = nil
    ) -> Parameter {
        Parameter(.option, name, summary, short: short, schema: .optional(.integer(range)))
    }
}

extension Parameter where Value == Double? {
    /// An optional number within limits.
    public static func option(
        _ name: String, _ summary: String, in range: ClosedRange<Double>, short: String? = nil
    ) -> Parameter {
        Parameter(.option, name, summary, short: short, schema: .optional(.number(range)))
    }
}

extension Parameter where Value == Secret {
    /// A required secret: asked for on a terminal, never taken from the command line.
    public static func secret(_ name: String, _ summary: String) -> Parameter {
        Parameter(.secret, name, summary)
    }
}

extension Parameter where Value == Secret? {
    /// An optional secret, which is not asked for.
    public static func secret(_ name: String, _ summary: String) -> Parameter {
        Parameter(.secret, name, summary)
    }
}

/// A parameter without its static type, for parsers, schemas and documents.
public struct ParameterDeclaration: PropertyDeclaration {
    /// How it is given on a command line. In JSON it is always a member with that name.
    public enum Form: Sendable, Hashable {
        /// In this order: a word without a name; `--name value`; `--name` alone; a secret, which is never a word.
        case positional, option, flag, secret
    }

    /// Its name is lower-case words joined by hyphens.
    public let property: Schema.Property
    /// How it is given on a command line.
    public let form: Form
    /// The letter of the short option, as in `-a`; nil if it has none.
    public let short: Character?
    /// Whether a value is required. A missing secret is asked for before the call is refused.
    public let isRequired: Bool
    /// How a shell completes the value.
    public let completion: Completion
    /// Whether a command line fills it from standard input.
    public let takesPipe: Bool
    /// Whether it is a text that takes all remaining words of a command line.
    public let joinsWords: Bool

    /// - Parameter completion: nil to derive it from the schema.
    public init(
        _ property: Schema.Property, form: Form, short: Character? = nil, isRequired: Bool = false,
        completion: Completion? = nil, takesPipe: Bool = false, joinsWords: Bool = false
    ) {
        self.property = property
        self.form = form
        self.short = short
        self.isRequired = isRequired
        self.completion = completion ?? Completion(property.schema)
        self.takesPipe = takesPipe
        self.joinsWords = joinsWords
    }

    /// Whether several values, or several words of one value, may be given.
    public var isRepeated: Bool { schema.element != nil || joinsWords || form == .positional && isMap }

    private var isMap: Bool { if case .map = schema.unwrapped { true } else { false } }
}
