public import Capabilities
public import JSON

/// A parameter without its static type: what parsers, schemas and documents are made from.
public struct ParameterDeclaration: Sendable {
    /// How it is given on a command line. As JSON it is always a member of that name.
    public enum Form: Sendable, Hashable {
        case positional, option, flag, secret
    }

    /// Lower-case words joined by hyphens.
    public let name: String
    public let summary: String
    public let form: Form
    public let short: Character?
    public let schema: Schema
    /// The default, where there is one that can be shown.
    public let standard: JSON?
    public let isRequired: Bool
    public let completion: Completion
    /// Whether a command line fills it with what is piped into the program.
    public let takesPipe: Bool
    /// Whether it is a text that takes all the words of a command line that are left.
    public let joinsWords: Bool

    public init(
        name: String, summary: String, form: Form, short: Character? = nil, schema: Schema, standard: JSON? = nil,
        isRequired: Bool = false, completion: Completion? = nil, takesPipe: Bool = false,
        joinsWords: Bool = false
    ) {
        self.name = name
        self.summary = summary
        self.form = form
        self.short = short
        self.schema = schema
        self.standard = standard
        self.isRequired = isRequired
        self.completion = completion ?? Completion(schema)
        self.takesPipe = takesPipe
        self.joinsWords = joinsWords
    }

    /// Whether several values, or several words of one, may be given.
    public var isRepeated: Bool { schema.element != nil || joinsWords }
}

/// How a shell completes a value.
public enum Completion: Sendable {
    case nothing
    case words([String])
    case files
    case directories
    /// Asked for when it is needed; it must answer at once and open nothing.
    case dynamic(@Sendable (Registry, Host) -> [String])

    /// What the type alone says.
    init(_ schema: Schema) {
        switch schema.unwrapped {
        case .choice(let names): self = .words(names)
        case .boolean: self = .words(["true", "false"])
        case .path: self = .files
        case .array(let element): self = Completion(element)
        default: self = .nothing
        }
    }
}
