public import Expressions
public import JSON

/// One thing that a bundle does.
public struct Step: Sendable {
    /// How other steps refer to it.
    public var id: String
    public var work: Work
    /// What the action or the bundle is given: an object.
    public var arguments: JSONTemplate = .object([])
    /// Whether it runs; when nil, if all that it needs went well.
    public var condition: Expression?
    /// The steps that have to be over before.
    public var needs: [String] = []
    /// Runs of the step that differ in a value.
    public var spread: Spread?
    /// How many of these run at once.
    public var parallel: Int?
    public var retry: Retry?
    /// How long one attempt may take.
    public var timeout: Duration?
    /// Whether the run goes on, and counts as well done, when this fails.
    public var continuesOnError = false
    public var cache: Cache?
    /// Where it stands in the file.
    public let path: [String]

    public enum Work: Sendable, Hashable {
        /// An action by its id or its alias.
        case action(String)
        /// Another bundle, by its path from the folder of this one.
        case bundle(String)

        public var name: String {
            switch self {
            case .action(let name), .bundle(let name): name
            }
        }
    }

    /// What a step is run for, once each.
    public enum Spread: Sendable {
        case matrix(Matrix)
        /// The items of a list.
        case foreach(JSONTemplate)
    }

    /// When a step is tried again.
    public struct Retry: Sendable, Hashable {
        /// How often it is tried again after the first time: with 2 there are up to three attempts.
        public var times: Int
        public var delay: Duration
        /// By what the delay grows each time.
        public var factor: Double
        /// The exit codes after which it is tried again.
        public var on: [Int]

        public init(times: Int, delay: Duration = .seconds(1), factor: Double = 2, on: [Int] = [4]) {
            self.times = times
            self.delay = delay
            self.factor = factor
            self.on = on
        }
    }

    /// For how long a result is used again.
    public struct Cache: Sendable {
        /// What has to be the same besides the action and what it is given.
        public var key: JSONTemplate
        public var lifetime: Duration

        public init(key: JSONTemplate, lifetime: Duration) {
            self.key = key
            self.lifetime = lifetime
        }
    }

    public init(id: String, work: Work, path: [String]) {
        self.id = id
        self.work = work
        self.path = path
    }
}

/// Values by name, each combination of which is one run of a step.
public struct Matrix: Sendable {
    /// The names in their order, each with its list.
    public var axes: [(name: String, values: JSONTemplate)]
    /// Combinations besides.
    public var include: [JSONTemplate]
    /// Combinations that are left out; one that names fewer values leaves out all that have them.
    public var exclude: [JSONTemplate]

    /// How many combinations there may be.
    public static let largest = 10_000

    public init(
        axes: [(name: String, values: JSONTemplate)], include: [JSONTemplate] = [], exclude: [JSONTemplate] = []
    ) {
        self.axes = axes
        self.include = include
        self.exclude = exclude
    }

    /// The names that `matrix.` can be followed by.
    public var names: Set<String> {
        var names = Set(axes.map(\.name))
        for case .object(let members) in include { names.formUnion(members.map(\.name)) }
        return names
    }

    /// Every combination, the last name changing fastest.
    public func combinations(in scope: Scope) throws(MatrixError) -> [JSONObject] {
        var combinations: [JSONObject] = [[:]]
        for (name, template) in axes {
            guard let values = try value(template, ["matrix", name], scope).array else {
                throw MatrixError(path: ["matrix", name], "has to be a list")
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
            throw MatrixError(path: path, "has to be an object")
        }
        return object
    }

    private func value(_ template: JSONTemplate, _ path: [String], _ scope: Scope) throws(MatrixError) -> JSON {
        do throws(JSONTemplate.Problem) { return try template.value(in: scope) } catch {
            throw MatrixError(path: path + error.path, error.error.message)
        }
    }
}

/// Why a matrix has no combinations, and where in the step.
public struct MatrixError: Error, Sendable, Hashable {
    public let path: [String]
    public let message: String

    init(path: [String], _ message: String) {
        self.path = path
        self.message = message
    }
}
