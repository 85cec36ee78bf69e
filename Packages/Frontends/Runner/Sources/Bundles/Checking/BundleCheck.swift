import Capabilities
import Expressions
import JSON

/// Finds out, before anything runs, what would go wrong: actions that are not there, values of the wrong type, results
/// that have no such member, and what was not permitted. Everything is told at once.
public struct BundleCheck {
    private let surroundings: any BundleSurroundings
    private var problems: [BundleProblem] = []
    /// The bundles around this one, so that none runs itself.
    private var files: [String] = []

    /// How deep bundles run bundles.
    public static let deepest = 64

    public init(_ surroundings: any BundleSurroundings) {
        self.surroundings = surroundings
    }

    /// Everything that is wrong with a bundle and with those that it runs, in the order of the lines.
    public static func problems(of bundle: Bundle, in surroundings: any BundleSurroundings) -> [BundleProblem] {
        var check = BundleCheck(surroundings)
        check.check(bundle, within: bundle.permissions)
        return BundleFailure(check.problems).problems
    }

    private mutating func check(_ bundle: Bundle, within outer: BundlePermissions) {
        files.append(bundle.source.file)
        defer { files.removeLast() }
        for (index, feature) in bundle.needs.enumerated() {
            guard let problem = surroundings.problem(ofFeature: feature) else { continue }
            problems.append(bundle.source.problem(problem, at: ["needs", String(index)]))
        }
        var results: [String: Schema] = [:]
        for step in bundle.allSteps {
            switch step.work {
            case .action(let name):
                guard let action = surroundings.action(name) else {
                    let near = Suggestion.text(for: name, among: surroundings.actionNames)
                    problems.append(
                        bundle.source.problem("there is no action '\(name)'\(near)", at: step.path + ["action"]))
                    continue
                }
                results[step.id] = step.spread == nil ? action.result : .array(action.result)
                check(action, step, bundle, outer)
            case .bundle(let path): checkBundle(path, step, bundle, outer)
            }
        }
        for step in bundle.allSteps { checkResults(of: step, bundle, results) }
        for (name, template) in bundle.outputs {
            checkResults(in: template, at: ["outputs", name], bundle, results)
        }
    }

    // MARK: Steps

    private mutating func check(
        _ action: ActionFacts, _ step: Step, _ bundle: Bundle, _ outer: BundlePermissions
    ) {
        func add(_ message: String, at path: [String], key: Bool = false) {
            problems.append(bundle.source.problem(message, at: step.path + path, key: key))
        }
        if let problem = action.problem { add(problem, at: ["action"]) }
        let isAllowed = bundle.permissions.allows(action.id, action.effect)
        if !isAllowed || !outer.allows(action.id, action.effect) {
            let owner = isAllowed ? "the bundle that runs this one" : "the bundle"
            add(
                "\(action.id) \(action.effect.rawValue) something, and \(owner) does not permit it; add it to "
                    + "permissions.actions, or set permissions.effects to \(action.effect.rawValue)", at: ["action"])
        }
        guard case .object(let members) = step.arguments else { return }
        let names = action.parameters.map(\.name)
        for (name, template) in members {
            guard let parameter = action.parameters.first(where: { $0.name == name }) else {
                add(
                    "'\(name)' is no parameter of \(action.id)\(Suggestion.text(for: name, among: names))",
                    at: ["with", name], key: true)
                continue
            }
            guard let value = template.constant else { continue }
            for problem in parameter.schema.problems(in: value) {
                let path = ["with", name] + problem.path
                add("\(BundleReader.name(of: path)) \(problem.message)", at: path)
            }
        }
        for parameter in action.parameters
        where parameter.isRequired && !members.contains(where: { $0.name == parameter.name }) {
            add("\(action.id) needs '\(parameter.name)': \(parameter.summary)", at: ["with"])
        }
    }

    private mutating func checkBundle(_ path: String, _ step: Step, _ bundle: Bundle, _ outer: BundlePermissions) {
        let place = step.path + ["bundle"]
        do throws(BundleFailure) {
            let source = try surroundings.bundle(path, besides: bundle.source.file)
            if files.contains(source.file) {
                let way = (files + [source.file]).joined(separator: " runs ")
                return problems.append(bundle.source.problem("a bundle would run itself: \(way)", at: place))
            }
            if files.count >= Self.deepest {
                return problems.append(
                    bundle.source.problem("bundles run bundles more than \(Self.deepest) levels deep", at: place))
            }
            let inner = try Bundle(source)
            checkInputs(of: inner, step, bundle)
            check(inner, within: outer)
        } catch {
            problems.append(bundle.source.problem("'\(path)' cannot be run", at: place))
            problems += error.problems
        }
    }

    private mutating func checkInputs(of inner: Bundle, _ step: Step, _ bundle: Bundle) {
        guard case .object(let members) = step.arguments else { return }
        let names = inner.inputs.map(\.name)
        for (name, template) in members {
            let path = step.path + ["with", name]
            guard let input = inner.inputs.first(where: { $0.name == name }) else {
                let near = Suggestion.text(for: name, among: names)
                problems.append(
                    bundle.source.problem("'\(name)' is no input of \(inner.name)\(near)", at: path, key: true))
                continue
            }
            guard let value = template.constant else { continue }
            for problem in input.schema.problems(in: value) {
                problems.append(bundle.source.problem("with.\(name) \(problem.message)", at: path + problem.path))
            }
        }
        for input in inner.inputs where input.isRequired && !members.contains(where: { $0.name == input.name }) {
            problems.append(
                bundle.source.problem("\(inner.name) needs the input '\(input.name)'", at: step.path + ["with"]))
        }
    }

    // MARK: Results

    private mutating func checkResults(of step: Step, _ bundle: Bundle, _ results: [String: Schema]) {
        checkResults(in: step.arguments, at: step.path + ["with"], bundle, results)
        for reference in step.condition?.references ?? [] {
            check(reference, at: step.path + ["if"], bundle, results)
        }
        switch step.spread {
        case .foreach(let list)?: checkResults(in: list, at: step.path + ["foreach"], bundle, results)
        case .matrix(let matrix)?:
            for (name, values) in matrix.axes {
                checkResults(in: values, at: step.path + ["matrix", name], bundle, results)
            }
        case nil: break
        }
    }

    private mutating func checkResults(
        in template: JSONTemplate, at path: [String], _ bundle: Bundle, _ results: [String: Schema]
    ) {
        for (way, expression, _) in template.expressions {
            for reference in expression.references { check(reference, at: path + way, bundle, results) }
        }
    }

    /// `steps.ID.result.member`, as far as the shape of the result is known.
    private mutating func check(
        _ reference: Expression.Reference, at path: [String], _ bundle: Bundle, _ results: [String: Schema]
    ) {
        guard reference.path.count > 3, reference.path[0] == "steps", reference.path[2] == "result",
            var shape = results[reference.path[1]]
        else { return }
        var way = reference.path[1] + ".result"
        for name in reference.path.dropFirst(3) {
            switch shape.unwrapped {
            case .record(let properties):
                guard let property = properties.first(where: { $0.name == name }) else {
                    let near = Suggestion.text(for: name, among: properties.map(\.name))
                    problems.append(
                        bundle.source.problem("\(way) has no '\(name)'\(near)", at: path, offset: reference.offset))
                    return
                }
                shape = property.schema
            case .array(let element): shape = element
            case .map(let element): shape = element
            case .any: return
            default:
                problems.append(
                    bundle.source.problem(
                        "\(way) is a single value and has no '\(name)'", at: path, offset: reference.offset))
                return
            }
            way += ".\(name)"
        }
    }
}

extension JSONTemplate {
    /// The value, where no expression is in it.
    var constant: JSON? {
        if !expressions.isEmpty { return nil }
        // Without expressions no scope is asked, so that nothing can be missing.
        do { return try value(in: Scope()) } catch { return nil }
    }
}
