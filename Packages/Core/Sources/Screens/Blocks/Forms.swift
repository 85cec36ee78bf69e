public import Capabilities
public import JSON

/// Values to enter for an action. Each field is a parameter of the action, which also checks it.
public struct Form: BlockContent, Hashable {
    static let kind = "form"
    /// The id of the action that receives the values.
    public let action: String
    /// The parameters to enter; nil for all.
    public let parameters: [String]?
    /// The values to begin with, and those that cannot be changed.
    public let values: JSONObject
    /// What the button says.
    public let submit: String

    /// By default all parameters can be entered, and none has a value yet.
    public init(_ action: String, parameters: [String]? = nil, values: JSONObject = [:], submit: String) {
        self.action = action
        self.parameters = parameters
        self.values = values
        self.submit = submit
    }

    public static let fields: [Field<Form>] = [
        Field("action", "The id of the action that receives the values") { $0.action },
        Field("parameters", "The parameters to enter; all if absent") { $0.parameters },
        Field("values", "The values to begin with, and those that cannot be changed") { JSON.object($0.values) },
        Field("submit", "What the button says") { $0.submit },
    ]

    var size: BlockSize {
        let names = [action, submit] + (parameters ?? [])
        return BlockSize(nodes: values.count, bytes: names.reduce(values.textSize) { $0 + $1.utf8.count })
    }
}

/// A text to enter for an action.
public struct Composer: BlockContent, Hashable {
    static let kind = "composer"
    /// The id of the action that receives the text.
    public let action: String
    /// The parameter that receives it.
    public let parameter: String
    /// The list parameter that receives the files which the text names, as in `compare @a.txt with @"b c.txt"`; nil if
    /// the action takes none. The text itself stays as it was written, and a word that names no file is only text.
    public let files: String?
    /// What receives the rest of a text that begins with `!`, with the same other arguments; nil if there is nothing that
    /// runs commands for the person, so that such a text is one like any other.
    public let command: Target?
    /// The other arguments of the action.
    public let arguments: JSONObject
    /// The placeholder of the empty field.
    public let hint: String

    /// An action that receives a text, and the parameter for it.
    public struct Target: Record, Hashable {
        /// The id of the action.
        public let action: String
        /// The parameter that receives the text.
        public let parameter: String

        /// An action that takes a text.
        public init(_ action: String, _ parameter: String) {
            self.action = action
            self.parameter = parameter
        }

        public static let fields: [Field<Target>] = [
            Field("action", "The id of the action") { $0.action },
            Field("parameter", "The parameter that receives the text") { $0.parameter },
        ]
    }

    /// By default the action takes neither files nor other arguments, and no commands are run.
    public init(
        _ action: String, _ parameter: String, files: String? = nil, command: Target? = nil,
        arguments: JSONObject = [:], hint: String
    ) {
        self.action = action
        self.parameter = parameter
        self.files = files
        self.command = command
        self.arguments = arguments
        self.hint = hint
    }

    public static let fields: [Field<Composer>] = [
        Field("action", "The id of the action that receives the text") { $0.action },
        Field("parameter", "The parameter that receives it") { $0.parameter },
        Field("files", "The parameter that receives the files that the text names with @; absent if none does") {
            $0.files
        },
        Field("command", "What receives the rest of a text that begins with !; absent if nothing does") { $0.command },
        Field("arguments", "The other arguments of the action") { JSON.object($0.arguments) },
        Field("hint", "The placeholder of the empty field") { $0.hint },
    ]

    var size: BlockSize {
        let names = [action, parameter, hint, files ?? "", command?.action ?? "", command?.parameter ?? ""]
        return BlockSize(nodes: arguments.count, bytes: names.reduce(arguments.textSize) { $0 + $1.utf8.count })
    }
}

extension Composer {
    /// Its actions, each with the names of the arguments that it gets.
    var targets: [(id: String, arguments: [String])] {
        let names = arguments.map(\.key)
        let own = (action, names + [parameter] + [files].compactMap { $0 })
        return [own] + [command].compactMap { $0 }.map { ($0.action, names + [$0.parameter]) }
    }
}
