public import ExpressionKit
public import JSON

/// A step of a bundle.
public struct Step: Sendable {
    /// The name by which other steps refer to it.
    public var id: String
    /// The action or the bundle that it runs.
    public var work: Work
    /// The arguments of the action or the bundle: an object.
    public var arguments: JSONTemplate = .object([])
    /// Whether it runs; if nil, it runs if all steps that it needs succeeded.
    public var condition: Expression?
    /// The steps that must end first.
    public var needs: [String] = []
    /// Several runs of the step with different values.
    public var spread: Spread?
    /// How many of these run at once.
    public var parallel: Int?
    /// When it is retried; if nil, it is never retried.
    public var retry: Retry?
    /// The timeout of one attempt.
    public var timeout: Duration?
    /// Whether the run goes on, and counts as successful, if this step fails.
    public var continuesOnError = false
    /// How long its result is reused; if nil, it is never reused.
    public var cache: Cache?
    /// The path to it in the file.
    public let path: [String]

    /// What a step runs.
    public enum Work: Sendable, Hashable {
        /// An action by id or alias.
        case action(String)
        /// Another bundle, by its path relative to the folder of this one.
        case bundle(String)

        /// The id, the alias or the path, as the file has it.
        public var name: String {
            switch self {
            case .action(let name), .bundle(let name): name
            }
        }
    }

    /// The values that a step runs for, once each.
    public enum Spread: Sendable {
        case matrix(Matrix)
        /// The items of a list.
        case foreach(JSONTemplate)
    }

    /// When a failed step is retried.
    public struct Retry: Sendable, Hashable {
        /// The number of retries: 2 means up to three attempts.
        public var times: Int
        /// The delay before the first retry.
        public var delay: Duration
        /// The factor by which the delay grows each time.
        public var factor: Double
        /// The exit codes after which it is retried.
        public var on: [Int]

        /// - Parameter on: the exit codes after which it is retried; by default 4, that of an unreachable server.
        public init(times: Int, delay: Duration = .seconds(1), factor: Double = 2, on: [Int] = [4]) {
            self.times = times
            self.delay = delay
            self.factor = factor
            self.on = on
        }
    }

    /// How long a result is reused.
    public struct Cache: Sendable {
        /// What must be the same besides the action and its arguments.
        public var key: JSONTemplate
        /// How long a result stays valid after it was stored.
        public var lifetime: Duration
    }

    init(id: String, work: Work, path: [String]) {
        self.id = id
        self.work = work
        self.path = path
    }
}

/// Lists of values by name. A step runs once for each combination.
public struct Matrix: Sendable {
    /// The names in order, each with its list.
    public var axes: [(name: String, values: JSONTemplate)]
    /// Additional combinations.
    public var include: [JSONTemplate]
    /// Combinations that are left out. One with fewer values leaves out all combinations that have these values.
    public var exclude: [JSONTemplate]

    /// The maximum number of combinations.
    public static let largest = 10_000

    /// - Parameter axes: each name with a list, or an expression that gives one.
    public init(
        axes: [(name: String, values: JSONTemplate)], include: [JSONTemplate] = [], exclude: [JSONTemplate] = []
    ) {
        self.axes = axes
        self.include = include
        self.exclude = exclude
    }

    /// The names that can follow `matrix.`.
    public var names: Set<String> {
        var names = Set(axes.map(\.name))
        for case .object(let members) in include { names.formUnion(members.map(\.name)) }
        return names
    }

    /// Every combination; the last name changes fastest.
    public func combinations(in scope: Scope) throws(MatrixError) -> [JSONObject] {
        var combinations: [JSONObject] = [[:]]
        for (name, template) in axes {
            guard let values = try value(template, ["matrix", name], scope).array else {
                throw MatrixError(path: ["matrix", name], "must be a list")
            }
            let (count, overflow) = combinations.count.multipliedReportingOverflow(by: values.count)
            if overflow || count > Self.largest {
                throw MatrixError(path: ["matrix"], "has more than \(Self.largest) combinations")
            }
            combinations = combinations.flatMap { combination in
                values.map { value in
                    var more = combination
                    more.append(name, value)
                    return more
                }
            }
        }
        if axes.isEmpty { combinations = [] }
        for (index, template) in exclude.enumerated() {
            let path = ["matrix", "exclude", String(index)]
            let left = try object(template, path, scope)
            combinations.removeAll { one in left.allSatisfy { one[$0.0] == $0.1 } }
        }
        for (index, template) in include.enumerated() {
            combinations.append(try object(template, ["matrix", "include", String(index)], scope))
        }
        return combinations
    }

    private func object(_ template: JSONTemplate, _ path: [String], _ scope: Scope) throws(MatrixError) -> JSONObject {
        guard let object = try value(template, path, scope).object else {
            throw MatrixError(path: path, "must be an object")
        }
        return object
    }

    private func value(_ template: JSONTemplate, _ path: [String], _ scope: Scope) throws(MatrixError) -> JSON {
        do throws(JSONTemplate.Problem) { return try template.value(in: scope) } catch {
            throw MatrixError(path: path + error.path, error.error.message)
        }
    }
}

/// Why a matrix has no combinations, and the path in the step.
public struct MatrixError: Error, Sendable, Hashable {
    /// The path in the step, such as `["matrix", "model"]`.
    public let path: [String]
    /// What is wrong with the value at that path.
    public let message: String

    init(path: [String], _ message: String) {
        self.path = path
        self.message = message
    }
}
