public import Capabilities
public import Expressions
public import JSON

/// Steps over actions that run without a person: in automation, at night, in another program.
public struct Bundle: Sendable {
    public let source: BundleSource
    public var name: String
    public var summary: String?
    /// Features that have to be there.
    public var needs: [String] = []
    public var inputs: [BundleInput] = []
    /// Names of values that steps can refer to, in their order.
    public var environment: [(name: String, value: EnvironmentValue)] = []
    public var permissions = BundlePermissions()
    public var steps: [Step] = []
    /// Steps that run in the end, however the others went.
    public var finally: [Step] = []
    /// What the run gives, by name.
    public var outputs: [(name: String, value: JSONTemplate)] = []
    public var schedule: BundleSchedule?
    /// How long all of it may take.
    public var timeout: Duration?
    /// How many steps run at once; as many as there are processors when nil.
    public var parallel: Int?

    public init(source: BundleSource, name: String) {
        self.source = source
        self.name = name
    }

    /// Every step, those of the end last.
    public var allSteps: [Step] { steps + finally }
}

/// What a value of the environment comes from.
public enum EnvironmentValue: Sendable {
    case value(JSONTemplate)
    /// A variable of the program's environment.
    case variable(String, otherwise: String?)
    /// A secret of the vault, which is masked in everything that is written.
    case secret(String)
}

/// When a bundle runs by itself.
public enum BundleSchedule: Sendable, Hashable {
    case every(Duration)
    case cron(CronSchedule)
}

/// Something that a bundle is given when it runs.
public struct BundleInput: Sendable, Hashable {
    public var name: String
    public var kind: Kind
    public var summary: String?
    /// What it is when nobody says; without it the input has to be given.
    public var standard: JSON?
    /// Masked in everything that is written.
    public var isSecret = false

    public enum Kind: Sendable, Hashable {
        case string, integer, number, boolean, path, list, map
        case choice([String])

        /// The words of the file's `type`.
        static let names = ["string", "integer", "number", "boolean", "path", "list", "map", "choice"]
    }

    public init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// The shape of its value.
    public var schema: Schema {
        switch kind {
        case .string: .string
        case .integer: .integer(nil)
        case .number: .number(nil)
        case .boolean: .boolean
        case .path: .path(.any)
        case .list: .array(.any)
        case .map: .map(.any)
        case .choice(let names): .choice(names)
        }
    }

    public var isRequired: Bool { standard == nil }
}

/// The values that a bundle is given.
public enum BundleInputs {
    /// The value of every input, or everything that is wrong with what was given.
    ///
    /// - Parameters:
    ///   - words: what stood on a command line or in a variable, by the input's name.
    ///   - values: what another bundle or a file gives.
    public static func values(
        for bundle: Bundle, words: [String: String] = [:], values given: JSONObject = [:]
    ) -> (values: JSONObject, problems: [BundleProblem]) {
        var values = JSONObject()
        var problems: [BundleProblem] = []
        let names = bundle.inputs.map(\.name)
        func add(_ message: String, _ name: String) {
            problems.append(bundle.source.problem(message, at: ["inputs", name], key: true))
        }
        for name in Set(words.keys).union(given.map(\.0)).sorted() where !names.contains(name) {
            let known = names.isEmpty ? "; the bundle takes none" : Suggestion.text(for: name, among: names)
            problems.append(bundle.source.problem("there is no input '\(name)'\(known)", at: ["inputs"]))
        }
        for input in bundle.inputs {
            do throws(ValueError) {
                if let word = words[input.name] {
                    let value = try input.schema.json(fromWord: word)
                    if let problem = input.schema.problems(in: value).first { throw problem }
                    values.append(input.name, value)
                } else if let value = given[input.name] {
                    if let problem = input.schema.problems(in: value).first { throw problem }
                    values.append(input.name, value)
                } else if let standard = input.standard {
                    values.append(input.name, standard)
                } else {
                    let summary = input.summary.map { ": \($0)" } ?? ""
                    add(
                        "the input '\(input.name)' is missing\(summary); give it with --input \(input.name)=…",
                        input.name)
                }
            } catch {
                let value = input.isSecret ? "" : " \(error.message)"
                add("the input '\(input.name)'\(value.isEmpty ? " does not have its type" : value)", input.name)
            }
        }
        return (values, problems)
    }
}
