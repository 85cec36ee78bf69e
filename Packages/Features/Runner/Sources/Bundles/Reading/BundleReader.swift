import Capabilities
import ExpressionKit
import JSON

/// Turns a file into a bundle, and collects all problems.
struct BundleReader {
    let source: BundleSource
    private(set) var problems: [BundleProblem] = []

    init(_ source: BundleSource) {
        self.source = source
    }

    mutating func add(_ message: String, at path: [String], key: Bool = false, offset: Int = 0) {
        problems.append(source.problem(message, at: path, key: key, offset: offset))
    }

    /// The bundle as far as it can be read. It can be checked in any case, but run only if there are no problems.
    mutating func bundle() -> Bundle {
        let root = source.value
        for problem in BundleFormat.schema.problems(in: root) {
            let isAboutKey = problem.message.hasPrefix("is not known")
            add("\(name(of: problem.path)) \(problem.message)", at: problem.path, key: isAboutKey)
        }
        var bundle = Bundle(source: source, name: root["name"]?.string ?? "")
        if let name = root["name"]?.string, !Self.isName(name) {
            add("the name must consist of lower-case letters, digits and hyphens, such as nightly-review", at: ["name"])
        }
        bundle.summary = root["summary"]?.string
        bundle.needs = Self.texts(root["needs"]) ?? []
        bundle.inputs = inputs(root["inputs"])
        bundle.environment = environment(root["env"])
        bundle.permissions = permissions(root["permissions"])
        bundle.steps = steps(root["steps"], under: "steps")
        bundle.finally = steps(root["finally"], under: "finally")
        if bundle.steps.isEmpty, root["steps"]?.array != nil { add("there are no steps", at: ["steps"]) }
        for (name, value) in root["outputs"]?.object ?? [:] {
            bundle.outputs.append((name, template(value, at: ["outputs", name])))
        }
        bundle.schedule = schedule(root["schedule"])
        bundle.timeout = duration(root["timeout"])
        bundle.parallel = root["parallel"]?.int
        BundleNames(bundle).check(&self)
        return bundle
    }

    // MARK: Parts

    private mutating func inputs(_ json: JSON?) -> [BundleInput] {
        (json?.object ?? [:]).map { name, value in
            let path = ["inputs", name]
            if !Self.isName(name, joints: "-_") {
                add("the name of an input must consist of letters, digits, - and _", at: path, key: true)
            }
            var input = BundleInput(name, kind(value, at: path))
            input.summary = value["summary"]?.string
            input.isSecret = value["secret"]?.bool ?? false
            if let defaultValue = value["default"], !defaultValue.isNull {
                for problem in input.schema.problems(in: defaultValue) {
                    add("the default \(problem.message)", at: path + ["default"] + problem.path)
                }
                input.defaultValue = defaultValue
            }
            return input
        }
    }

    private mutating func kind(_ json: JSON, at path: [String]) -> BundleInput.Kind {
        let choices = Self.texts(json["choices"])
        if choices != nil, json["type"]?.string != "choice" {
            add("choices are allowed only for an input of type choice", at: path + ["choices"], key: true)
        }
        switch json["type"]?.string {
        case "integer": return .integer
        case "number": return .number
        case "boolean": return .boolean
        case "path": return .path
        case "list": return .list
        case "map": return .map
        case "choice":
            if choices?.isEmpty ?? true { add("a choice needs choices", at: path) }
            return .choice(choices ?? [])
        default: return .string
        }
    }

    private mutating func environment(_ json: JSON?) -> [(name: String, value: EnvironmentValue)] {
        (json?.object ?? [:]).map { name, value in
            let path = ["env", name]
            if !Self.isName(name.lowercased(), joints: "_") {
                add("the name must consist of letters, digits and _", at: path, key: true)
            }
            guard let members = value.object else { return (name, .value(template(value, at: path))) }
            for (key, _) in members where !["secret", "variable", "default"].contains(key) {
                add("\(key) is not known here; known keys: secret, variable, default", at: path + [key], key: true)
            }
            if let secret = members["secret"]?.string, members.count == 1 { return (name, .secret(secret)) }
            guard let variable = members["variable"]?.string, members["secret"] == nil else {
                add("env.\(name) must be text, {secret: NAME} or {variable: NAME}", at: path)
                return (name, .value(.value(.null)))
            }
            return (name, .variable(variable, otherwise: members["default"]?.string))
        }
    }

    private mutating func permissions(_ json: JSON?) -> BundlePermissions {
        var permissions = BundlePermissions()
        if let word = json?["effects"]?.string, let effect = Effect(rawValue: word) { permissions.effects = effect }
        permissions.actions = Self.texts(json?["actions"]) ?? []
        permissions.hosts = Self.texts(json?["hosts"])
        permissions.paths = Self.texts(json?["paths"])
        permissions.secrets = Self.texts(json?["secrets"]) ?? []
        permissions.programs = Self.texts(json?["programs"]) ?? []
        permissions.tools = Self.texts(json?["tools"]) ?? []
        permissions.calls = json?["calls"]?.int
        permissions.time = duration(json?["time"])
        return permissions
    }

    private mutating func schedule(_ json: JSON?) -> BundleSchedule? {
        guard let json, !json.isNull else { return nil }
        switch (duration(json["every"]), json["cron"]?.string) {
        case (let every?, nil):
            if every <= .zero { add("the time between two starts must be more than 0", at: ["schedule", "every"]) }
            return .every(every)
        case (nil, let cron?):
            do throws(CronSchedule.Problem) { return .cron(try CronSchedule(parsing: cron)) } catch {
                add(error.message, at: ["schedule", "cron"])
                return nil
            }
        default:
            add("a schedule needs either every or cron", at: ["schedule"])
            return nil
        }
    }

    // MARK: Values

    /// An invalid text is reported and replaced by a value that is unknown until the run, so that the rest can be
    /// checked.
    mutating func template(_ json: JSON, at path: [String]) -> JSONTemplate {
        switch json {
        case .array(let items):
            var list: [JSONTemplate] = []
            for (index, item) in items.enumerated() { list.append(template(item, at: path + [String(index)])) }
            return .list(list)
        case .object(let members):
            var object: [(String, JSONTemplate)] = []
            for (name, value) in members { object.append((name, template(value, at: path + [name]))) }
            return .object(object)
        default:
            do throws(JSONTemplate.Problem) { return try JSONTemplate(json) } catch {
                add(error.error.message, at: path + error.path, offset: error.error.offset)
                return Self.unknown
            }
        }
    }

    private static var unknown: JSONTemplate {
        // An expression, because a text without one would be known before the run.
        do { return .text(try Template(parsing: "${{ null }}")) } catch { return .value(.null) }
    }

    func duration(_ json: JSON?) -> Duration? {
        guard let json, !json.isNull else { return nil }
        do { return try Duration(json: json) } catch { return nil }
    }

    static func texts(_ json: JSON?) -> [String]? { json?.array.map { $0.compactMap(\.string) } }

    /// The path as an error message shows it: `the step 'ask': with.city`.
    func name(of path: [String]) -> String {
        guard path.count > 1, path[0] == "steps" || path[0] == "finally", let index = Int(path[1]) else {
            return Self.name(of: path)
        }
        let step = "the step '\(PlainText.escape(Self.stepID(source.value[path[0]]?[index], at: path)))'"
        return path.count == 2 ? step : "\(step): \(Self.name(of: Array(path.dropFirst(2))))"
    }

    /// The id by which others refer to a step, with a default if it has none.
    static func stepID(_ step: JSON?, at path: [String]) -> String {
        let prefix = path[0] == "finally" ? "finally" : "step"
        return step?["id"]?.string ?? "\(prefix)-\((Int(path[1]) ?? 0) + 1)"
    }

    /// The path as an error message shows it: `with.city`.
    static func name(of path: [String]) -> String {
        guard let first = path.first else { return "the bundle" }
        return path.dropFirst().reduce(first) { Int($1) == nil ? "\($0).\($1)" : "\($0)[\($1)]" }
    }

    static func isName(_ text: String, joints: String = "-") -> Bool {
        guard let first = text.unicodeScalars.first, ("a"..."z").contains(first) || joints != "-" else { return false }
        return text.unicodeScalars.count <= 64
            && text.unicodeScalars.allSatisfy {
                ("a"..."z").contains($0) || ("0"..."9").contains($0) || joints.unicodeScalars.contains($0)
                    || (joints != "-" && ("A"..."Z").contains($0))
            }
    }
}

extension BundleReader {
    mutating func steps(_ json: JSON?, under list: String) -> [Step] {
        var steps: [Step] = []
        for (index, item) in (json?.array ?? []).enumerated() where item.object != nil {
            steps.append(step(item, at: [list, String(index)], after: steps.last?.id))
        }
        return steps
    }

    private mutating func step(_ json: JSON, at path: [String], after before: String?) -> Step {
        let id = Self.stepID(json, at: path)
        if json["id"] != nil, !Self.isName(id) {
            add("an id must consist of lower-case letters, digits and hyphens, such as find-todos", at: path + ["id"])
        }
        var step = Step(id: id, work: work(json, at: path), path: path)
        if let with = json["with"] { step.arguments = template(with, at: path + ["with"]) }
        step.condition = condition(json["if"], at: path + ["if"])
        step.needs = Self.texts(json["needs"]) ?? before.map { [$0] } ?? []
        step.spread = spread(json, at: path)
        step.parallel = json["parallel"]?.int
        if step.parallel != nil, step.spread == nil {
            add("parallel is allowed only with matrix or foreach", at: path + ["parallel"], key: true)
        }
        step.retry = retry(json["retry"])
        step.timeout = duration(json["timeout"])
        if step.timeout == .zero { add("the timeout must be more than 0", at: path + ["timeout"]) }
        step.continuesOnError = json["continue-on-error"]?.bool ?? false
        if let cache = json["cache"], let lifetime = duration(cache["for"]) {
            let key = cache["key"].map { template($0, at: path + ["cache", "key"]) } ?? .value(.null)
            step.cache = Step.Cache(key: key, lifetime: lifetime)
        }
        return step
    }

    private mutating func work(_ json: JSON, at path: [String]) -> Step.Work {
        switch (json["action"]?.string, json["bundle"]?.string) {
        case (let action?, nil): return .action(action)
        case (nil, let bundle?):
            if bundle.isEmpty || bundle.contains("${{") {
                add("the path of a bundle cannot be empty or contain expressions", at: path + ["bundle"])
            }
            return .bundle(bundle)
        case (.some, .some): add("a step has an action or a bundle, not both", at: path + ["bundle"], key: true)
        case (nil, nil):
            if json["action"] == nil, json["bundle"] == nil { add("the step needs an action or a bundle", at: path) }
        }
        return .action("")
    }

    /// The expression in `if`, which may have `${{ }}` around it.
    private mutating func condition(_ json: JSON?, at path: [String]) -> Expression? {
        guard let json, !json.isNull else { return nil }
        let text = json.string ?? json.text()
        do throws(ExpressionError) {
            guard text.contains("${{") else { return try Expression(parsing: text) }
            let template = try Template(parsing: text)
            if template.pieces.count == 1, let only = template.expressions.first { return only.expression }
            add("if must be a single expression, without text around it", at: path)
        } catch {
            add(error.message, at: path, offset: error.offset)
        }
        return nil
    }

    private mutating func spread(_ json: JSON, at path: [String]) -> Step.Spread? {
        if let matrix = json["matrix"]?.object {
            if json["foreach"] != nil {
                add("a step has matrix or foreach, not both", at: path + ["foreach"], key: true)
            }
            return .matrix(self.matrix(matrix, at: path + ["matrix"]))
        }
        guard let list = json["foreach"], !list.isNull else { return nil }
        if list.array == nil, list.string?.contains("${{") != true {
            add("foreach must be a list, or an expression that gives one", at: path + ["foreach"])
        }
        return .foreach(template(list, at: path + ["foreach"]))
    }

    private mutating func matrix(_ members: JSONObject, at path: [String]) -> Matrix {
        var matrix = Matrix(axes: [])
        for (name, value) in members {
            let path = path + [name]
            if name == "include" || name == "exclude" {
                guard let items = value.array, items.allSatisfy({ $0.object != nil }) else {
                    add("\(name) must be a list of objects", at: path)
                    continue
                }
                let templates = items.enumerated().map { template($1, at: path + [String($0)]) }
                if name == "include" { matrix.include = templates } else { matrix.exclude = templates }
                continue
            }
            if value.array == nil, value.string?.contains("${{") != true {
                add("matrix.\(name) must be a list, or an expression that gives one", at: path)
            } else if value.array?.isEmpty == true {
                add("matrix.\(name) is empty, so the step would never run", at: path)
            }
            matrix.axes.append((name, template(value, at: path)))
        }
        if matrix.axes.isEmpty, matrix.include.isEmpty { add("the matrix is empty", at: path) }
        return matrix
    }

    private func retry(_ json: JSON?) -> Step.Retry? {
        guard let json, let times = json["times"]?.int else { return nil }
        var retry = Step.Retry(times: times)
        if let delay = duration(json["delay"]) { retry.delay = delay }
        if let factor = json["factor"]?.double { retry.factor = factor }
        if let codes = json["on"]?.array { retry.on = codes.compactMap(\.int) }
        return retry
    }
}
