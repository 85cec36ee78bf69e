public import Expressions
public import JSON

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
