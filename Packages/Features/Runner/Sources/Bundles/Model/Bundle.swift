public import Capabilities
public import ExpressionKit
public import JSON

/// Steps that run actions unattended: in automation, at night, in another program.
public struct Bundle: Sendable {
    /// The text that it was read from.
    public let source: BundleSource
    /// The name, by which runs and reports refer to it.
    public var name: String
    /// What the bundle does; nil if the file does not say.
    public var summary: String?
    /// Features that must be available.
    public var needs: [String] = []
    /// The values that a run needs, in the order of the file.
    public var inputs: [BundleInput] = []
    /// Values that steps can refer to by name, in order.
    public var environment: [(name: String, value: EnvironmentValue)] = []
    /// What its steps may do.
    public var permissions = BundlePermissions()
    /// The steps in the order of the file. Their needs decide the order in which they run.
    public var steps: [Step] = []
    /// Steps that run at the end, whether or not the others succeeded.
    public var finally: [Step] = []
    /// The outputs of the run, by name.
    public var outputs: [(name: String, value: JSONTemplate)] = []
    /// When it runs once it is installed; nil if the file does not say.
    public var schedule: BundleSchedule?
    /// The timeout of the whole run.
    public var timeout: Duration?
    /// The number of steps that run at once; the number of processors if nil.
    public var parallel: Int?

    init(source: BundleSource, name: String) {
        self.source = source
        self.name = name
    }

    /// Reads a bundle. Throws all problems that the file alone shows.
    public init(_ source: BundleSource) throws(BundleFailure) {
        let (bundle, problems) = Bundle.reading(source)
        guard problems.isEmpty else { throw BundleFailure(problems) }
        self = bundle
    }

    /// Reads a bundle as far as possible, and returns all problems, so that the check can report its own as well.
    public static func reading(_ source: BundleSource) -> (bundle: Bundle, problems: [BundleProblem]) {
        var reader = BundleReader(source)
        let bundle = reader.bundle()
        return (bundle, reader.problems)
    }

    /// Every step, the `finally` steps last.
    public var allSteps: [Step] { steps + finally }

    /// The rights of its steps. A folder that cannot be opened gives no rights; the check has reported it.
    public func grant(in reach: BundleReach) -> Grant {
        let hosts = permissions.hosts.map { hosts in
            Grant.Hosts.named(hosts.flatMap { $0 == BundlePermissions.setUp ? reach.servers : [$0] })
        }
        let folders = Grant.Folders(
            roots: folders(in: reach), isDefault: permissions.paths == nil, start: reach.folder, closed: reach.closed)
        return Grant(
            Grant.Layer(
                .bundle(name), effects: permissions.effects, actions: permissions.actions,
                hosts: hosts ?? .setUp(reach.servers),
                setUp: permissions.hosts?.contains(BundlePermissions.setUp) == true ? reach.servers : [],
                folders: folders, secrets: permissions.secrets,
                programs: permissions.programs,
                tools: permissions.tools, limits: GrantLimits(calls: permissions.calls, time: permissions.time)))
    }

    /// The folders whose files its steps may open, without those that cannot be opened.
    func folders(in reach: BundleReach) -> [FolderRoot] {
        guard let paths = permissions.paths else { return reach.folder.map { [$0] } ?? [] }
        return paths.compactMap { path in
            do throws(BundleReachError) { return try reach.root(path) } catch { return nil }
        }
    }
}

/// The source of an environment value.
public enum EnvironmentValue: Sendable {
    case value(JSONTemplate)
    /// A variable of the program's environment.
    case variable(String, otherwise: String?)
    /// A secret of the vault, which is masked in all output.
    case secret(String)

    /// The variable that it is read from.
    var variable: String? { if case .variable(let name, _) = self { name } else { nil } }

    /// The secret behind it: a secret of the vault, or a variable whose name looks like a secret.
    public var secret: SecretName? {
        switch self {
        case .secret(let name): return SecretName(name)
        case .variable(let name, _):
            let endings = [
                "KEY", "TOKEN", "PASSWORD", "PASSPHRASE", "SECRET", "CREDENTIALS", "PASSWD", "_PASS", "_PWD", "_PAT",
            ]
            // A numbered name, as in TOKEN_2.
            let word = name.uppercased().reversed().drop { $0 == "_" || $0.isNumber }.reversed()
            return endings.contains(where: String(word).hasSuffix) ? SecretName(name) : nil
        case .value: return nil
        }
    }
}

/// The schedule of a bundle.
public enum BundleSchedule: Sendable, Hashable {
    case every(Duration)
    case cron(CronSchedule)
}

/// An input of a bundle.
public struct BundleInput: Sendable, Hashable {
    /// The name by which users and expressions refer to it.
    public var name: String
    /// The type of its value.
    public var kind: Kind
    /// What the value is for; nil if the file does not say.
    public var summary: String?
    /// The default; an input without one is required.
    public var defaultValue: JSON?
    /// Whether the value is masked in all output.
    public var isSecret = false

    /// The type of a value: `type` in the file, which is `string` if it is missing.
    public enum Kind: Sendable, Hashable {
        case string, integer, number, boolean, path, list, map
        case choice([String])

        /// The values of `type` in the file.
        static let names = ["string", "integer", "number", "boolean", "path", "list", "map", "choice"]
    }

    init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// The schema of its value.
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

    var isRequired: Bool { defaultValue == nil }
}

/// The values of a bundle's inputs.
public enum BundleInputs {
    /// The value of every input, or all problems with the given values.
    ///
    /// - Parameters:
    ///   - words: texts from the command line or from variables, by input name.
    ///   - values: values from another bundle or a file.
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
            let known = names.isEmpty ? "; the bundle has no inputs" : Suggestion.text(for: name, among: names)
            problems.append(bundle.source.problem("unknown input '\(name)'\(known)", at: ["inputs"]))
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
                } else if let defaultValue = input.defaultValue {
                    values.append(input.name, defaultValue)
                } else {
                    let summary = input.summary.map { ": \($0)" } ?? ""
                    add(
                        "the input '\(input.name)' is missing\(summary); give it with --input \(input.name)=…",
                        input.name)
                }
            } catch {
                let value = input.isSecret ? "" : " \(error.message)"
                add("the input '\(input.name)'\(value.isEmpty ? " has the wrong type" : value)", input.name)
            }
        }
        return (values, problems)
    }
}
