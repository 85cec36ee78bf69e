public import Capabilities
import ExpressionKit
import JSON

/// Finds problems before anything runs: unknown actions, values of the wrong type, results without the named member,
/// and missing permissions. All problems are reported at once.
public struct BundleCheck {
    private let surroundings: any BundleSurroundings
    private var problems: [BundleProblem] = []
    /// The bundles that steps run, by file.
    private var inner: [String: (bundle: Bundle, grant: Grant)] = [:]
    /// The bundles around this one, so that no bundle runs itself.
    private var files: [String] = []

    /// Finished checks. A bundle that several steps run with the same rights is checked once.
    private var checked: Set<Checked> = []

    private struct Checked: Hashable {
        let file: String
        let grant: Grant
    }

    /// How deep bundles can run other bundles.
    public static let deepest = 64
    /// The maximum number of pairs of bundle and rights, so that a check ends.
    static let most = 1_000

    private init(_ surroundings: any BundleSurroundings) {
        self.surroundings = surroundings
    }

    /// The result of a check.
    public struct Result: Sendable {
        /// All problems of the bundle and of the bundles that it runs, by line.
        public let problems: [BundleProblem]
        /// The rights of the bundle.
        public let grant: Grant
        /// Each bundle that a step runs, at any depth, and its rights.
        public let inner: [(bundle: Bundle, grant: Grant)]
    }

    /// - Parameters:
    ///   - problems: the problems that reading the bundle found.
    ///   - grant: the rights of the caller who runs the bundle.
    public static func check(
        _ bundle: Bundle, _ problems: [BundleProblem] = [], within grant: Grant = .person,
        in surroundings: any BundleSurroundings
    ) -> Result {
        var check = BundleCheck(surroundings)
        check.problems = problems
        check.check(bundle, within: grant)
        let inner = check.inner.sorted { $0.key < $1.key }.map(\.value)
        return Result(
            problems: BundleFailure(check.problems).problems,
            grant: grant.narrowed(by: bundle.grant(in: surroundings.reach)), inner: inner)
    }

    /// Only the problems.
    public static func problems(of bundle: Bundle, in surroundings: any BundleSurroundings) -> [BundleProblem] {
        check(bundle, in: surroundings).problems
    }

    private mutating func check(_ bundle: Bundle, within outer: Grant) {
        files.append(bundle.source.file)
        defer { files.removeLast() }
        let grant = outer.narrowed(by: bundle.grant(in: surroundings.reach))
        checkReach(bundle, grant)
        for (index, feature) in bundle.needs.enumerated() {
            guard let problem = surroundings.problem(ofFeature: feature) else { continue }
            problems.append(bundle.source.problem(problem, at: ["needs", String(index)]))
        }
        var results: [String: Schema] = [:]
        for step in bundle.allSteps {
            switch step.work {
            // Reading the bundle has already reported a missing action.
            case .action(""): continue
            case .action(let name):
                guard let action = surroundings.action(name) else {
                    let reason =
                        surroundings.absence(ofAction: name).map { ": \($0)" }
                        ?? ActionHint.text(for: name, among: surroundings.actionNames)
                    problems.append(
                        bundle.source.problem(
                            "unknown action '\(PlainText.escape(name))'\(reason)", at: step.path + ["action"]))
                    continue
                }
                results[step.id] = step.spread == nil ? action.result : .array(action.result)
                check(action, step, bundle, grant)
            case .bundle(let path) where path.isEmpty || path.contains("${{"): continue
            case .bundle(let path): checkBundle(path, step, bundle, grant)
            }
        }
        problems += ResultCheck.problems(of: bundle, results)
    }

    /// Checks the folders in its permissions and the secrets in its environment.
    private mutating func checkReach(_ bundle: Bundle, _ grant: Grant) {
        for (index, path) in (bundle.permissions.paths ?? []).enumerated() {
            do throws(BundleReachError) { _ = try surroundings.reach.root(path) } catch {
                let place = ["permissions", "paths", String(index)]
                let shown = PlainText.escape(path)
                problems.append(
                    bundle.source.problem("cannot open the folder \(shown): \(error.reason)", at: place))
            }
        }
        for (name, value) in bundle.environment {
            guard let secret = value.secret else { continue }
            if case .deny(let rule, let mend) = grant.decide(.secret(secret)) {
                problems.append(bundle.source.problem("\(rule); \(mend)", at: ["env", name]))
            }
        }
    }

    // MARK: Steps

    private mutating func check(
        _ action: ActionFacts, _ step: Step, _ bundle: Bundle, _ grant: Grant
    ) {
        func add(_ message: String, at path: [String], key: Bool = false) {
            problems.append(bundle.source.problem(message, at: step.path + path, key: key))
        }
        if let problem = action.problem { add(problem, at: ["action"]) }
        let request = GrantRequest.action(action.id, action.effect(of: step), action.offer)
        if case .deny(let rule, let mend) = grant.decide(request) { add("\(rule); \(mend)", at: ["action"]) }
        guard case .object(let members) = step.arguments else { return }
        let names = action.parameters.map(\.name)
        for (name, template) in members {
            guard let parameter = action.parameters.first(where: { $0.name == name }) else {
                add(
                    "'\(name)' is not a parameter of \(action.id)\(Suggestion.text(for: name, among: names))",
                    at: ["with", name], key: true)
                continue
            }
            guard let value = template.constant else {
                if parameter.schema.unwrapped == .host, let server = template.constantServer {
                    for refusal in refusals(of: server, parameter, grant) { add(refusal, at: ["with", name]) }
                }
                continue
            }
            let found = parameter.schema.problems(in: value)
            for problem in found {
                let path = ["with", name] + problem.path
                add("\(BundleReader.name(of: path)) \(problem.message)", at: path)
            }
            guard found.isEmpty else { continue }
            for refusal in refusals(of: value, parameter, grant) { add(refusal, at: ["with", name]) }
        }
        for parameter in action.parameters
        where parameter.isRequired && !members.contains(where: { $0.name == parameter.name }) {
            add("\(action.id) needs '\(parameter.name)': \(parameter.summary)", at: ["with"])
        }
    }

    /// Why values of a parameter may not be used; empty if they may.
    private func refusals(of value: JSON, _ parameter: ActionFacts.Parameter, _ grant: Grant) -> [String] {
        parameter.schema.requests(in: value, from: surroundings.reach.current).compactMap { request in
            if case .deny(let rule, let mend) = grant.decide(request) { "\(rule); \(mend)" } else { nil }
        }
    }

    private mutating func checkBundle(_ path: String, _ step: Step, _ bundle: Bundle, _ grant: Grant) {
        let place = step.path + ["bundle"]
        do throws(BundleFailure) {
            let source = try surroundings.bundle(path, besides: bundle.source.file)
            if files.contains(source.file) {
                let way = (files + [source.file]).joined(separator: " runs ")
                return problems.append(bundle.source.problem("the bundle would run itself: \(way)", at: place))
            }
            if files.count >= Self.deepest {
                return problems.append(
                    bundle.source.problem("bundles are nested deeper than \(Self.deepest) levels", at: place))
            }
            let (inner, wrong) = Bundle.reading(source)
            if !wrong.isEmpty { problems.append(bundle.source.problem("cannot run '\(path)'", at: place)) }
            problems += wrong
            self.inner[source.file] = (inner, grant.narrowed(by: inner.grant(in: surroundings.reach)))
            checkInputs(of: inner, step, bundle)
            guard checked.insert(Checked(file: source.file, grant: grant)).inserted else { return }
            if checked.count > Self.most {
                return problems.append(
                    bundle.source.problem("bundles run each other in more than \(Self.most) ways", at: place))
            }
            check(inner, within: grant)
        } catch {
            problems.append(bundle.source.problem("cannot run '\(path)'", at: place))
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
                    bundle.source.problem("'\(name)' is not an input of \(inner.name)\(near)", at: path, key: true))
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
}

/// Checks whether the members that a bundle reads from results exist in the results of the actions.
struct ResultCheck {
    private let bundle: Bundle
    /// The schemas of the results, by step id.
    private let results: [String: Schema]
    private var problems: [BundleProblem] = []

    static func problems(of bundle: Bundle, _ results: [String: Schema]) -> [BundleProblem] {
        var check = ResultCheck(bundle: bundle, results: results)
        for step in bundle.allSteps { check.check(step) }
        for (name, template) in bundle.outputs { check.check(template, at: ["outputs", name]) }
        return check.problems
    }

    private mutating func check(_ step: Step) {
        check(step.arguments, at: step.path + ["with"])
        for reference in step.condition?.references ?? [] {
            check(reference, at: step.path + ["if"])
        }
        switch step.spread {
        case .foreach(let list)?: check(list, at: step.path + ["foreach"])
        case .matrix(let matrix)?:
            for (name, values) in matrix.axes {
                check(values, at: step.path + ["matrix", name])
            }
        case nil: break
        }
    }

    private mutating func check(_ template: JSONTemplate, at path: [String]) {
        for (way, expression, _) in template.expressions {
            for reference in expression.references { check(reference, at: path + way) }
        }
    }

    /// Checks `steps.ID.result.member` as far as the schema of the result is known.
    private mutating func check(_ reference: Expression.Reference, at path: [String]) {
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
                        "\(way) is not an object and has no '\(name)'", at: path, offset: reference.offset))
                return
            }
            way += ".\(name)"
        }
    }
}

/// The hint for an unknown action: the most likely one, or the existing ones.
enum ActionHint {
    /// Words that people try for running a program; below, for sending a request.
    private static let programs: Set<String> = [
        "bash", "cmd", "command", "docker", "exec", "git", "make", "node", "process", "python", "script", "sh", "shell",
        "subprocess", "system", "zsh",
    ]
    private static let requests: Set<String> = ["curl", "fetch", "http", "https", "request", "url", "webhook", "wget"]

    static func text(for name: String, among names: [String]) -> String {
        let near = Suggestion.text(for: name, among: names)
        let parts = name.lowercased().split { !$0.isLetter }.map(String.init)
        if parts.contains(where: programs.contains) {
            return "\(near); 'shell.run' runs a program in a sandbox"
        }
        if parts.contains(where: requests.contains) {
            return "\(near); 'http.request' sends a request to a server"
        }
        if !near.isEmpty { return near }
        // The actions of the same feature.
        let family = name.prefix { $0 != "." } + "."
        let relatives = names.filter { $0.hasPrefix(family) }.sorted()
        if !relatives.isEmpty {
            let more = relatives.count > 8 ? ", …" : ""
            return "; available: \(relatives.prefix(8).joined(separator: ", "))\(more)"
        }
        return "; 'martlet help' lists the commands, and each command is an action"
    }
}

extension JSONTemplate {
    /// The value, if it has no expression.
    var constant: JSON? {
        if !expressions.isEmpty { return nil }
        // Without expressions the scope is not used, so nothing can be missing.
        do { return try value(in: Scope()) } catch { return nil }
    }

    /// The start of a URL up to its path, if no expression can change the server.
    var constantServer: JSON? {
        guard case .text(let template) = self, case .text(let plain) = template.pieces.first,
            let scheme = plain.firstRange(of: "://"),
            let end = plain[scheme.upperBound...].firstIndex(where: { "/?#".contains($0) })
        else { return nil }
        return .string(String(plain[..<end]))
    }
}
