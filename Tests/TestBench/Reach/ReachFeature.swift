import Capabilities
import CoreTesting
import FileKit
import Glibc
import JSON
import Registry
import Settings

/// Performs the actions of all other features, as those who may do less than the person.
struct ReachFeature: Feature {
    static let manifest = Manifest(id: "reach", summary: "Try how far actions reach", version: "1.0")

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(Self.perform)
    }

    private static let perform = Action(
        "reach.perform", "Perform every action with canaries", .reads,
        .option("canary", "The folder that nobody may open", as: String.self),
        .option("port", "The port of this machine that nobody may speak to", as: Int.self),
        .option("allowed", "The port that the widest bundle may speak to", as: Int.self),
        .option("name", "A name of this machine", as: String.self),
        .option("word", "What the canary's file and the secret hold", as: String.self),
        .flag("person", "Perform a few actions as the person, which reach all of it"),
        .option("part", "Which actions: those whose place divided by the number of parts leaves this rest", default: 0),
        .option("parts", "The number of parts", in: 1...16, default: 1)
    ) { context, folder, port, allowed, name, word, isPerson, part, parts in
        let canary = Canary(folder: folder, port: port, allowed: allowed, name: name, word: word)
        let trials = ReachTrials(context: context, canary: canary, part: part, parts: parts)
        return isPerson ? try await trials.asPerson() : try await trials.asOthers()
    }
    .streaming([])
}

/// The actions, one after the other.
private struct ReachTrials {
    /// After which one that lasts is cancelled, the first time and when it is known to last. What it opens, it opens at first.
    private static let limits = (first: Duration.seconds(2), then: Duration.milliseconds(300))

    let context: ActionContext
    let canary: Canary
    let part: Int
    let parts: Int

    private var actions: [Action] {
        let all = context.registry.actions.all.filter {
            context.registry.actions.owner(of: $0) != ReachFeature.manifest.id
        }
        return all.indices.filter { $0 % parts == part }.map { all[$0] }
    }

    /// - Returns: how many there were.
    func asPerson() async throws -> Int {
        var count = 0
        for (id, arguments) in canary.control {
            let trial = Trial(parameter: "control", form: String(count), arguments: arguments)
            _ = try await perform(try context.registry.actions.find(id), trial, "person", nil, Self.limits.first)
            count += 1
        }
        return count
    }

    /// - Returns: how many there were.
    func asOthers() async throws -> Int {
        let actions = actions
        var count = 0
        for (caller, grant) in try await callers(context.registry.actions.all.map(\.id)) {
            for action in actions {
                var limit = Self.limits.first
                for trial in canary.trials(of: action) {
                    let isOver = try await perform(action, trial, caller, grant, limit)
                    if isOver { limit = Self.limits.then }
                    count += 1
                }
            }
        }
        for action in actions {
            for parameter in action.parameters where Canary.takesNoText(parameter.schema) {
                try await context.emit(
                    ActionEvent("untried", ["action": .string(action.id), "parameter": .string(parameter.name)]))
            }
        }
        return count
    }

    /// A model, a bundle that says nothing about what it may do, and one that may do every action but with no other
    /// server, folder, program or secret. The grants of bundles are those that the product itself gives them.
    private func callers(_ ids: [String]) async throws -> [(String, Grant)] {
        let steps: JSON = [["action": "version"]]
        let permissions: JSON = [
            "effects": "destroys", "actions": .array(ids.map { .string($0) }),
            "hosts": .array([.string("127.0.0.1:\(canary.allowed)")]),
        ]
        let bundles: [(String, JSON)] = [
            ("bundle", ["name": "bundle", "steps": steps]),
            ("wide", ["name": "wide", "permissions": permissions, "steps": steps]),
        ]
        let holders = context.registry.all((any GrantHolders).self).first { $0.kind == "bundle" }
        guard let holders else { throw ReachFailure(message: "no feature knows the grants of bundles") }
        var callers = [("model", Grant.model)]
        for (name, bundle) in bundles {
            let file = "\(context.host.locations.current)/\(name).json"
            try Files.writeAtomically(Array(bundle.text().utf8), to: file)
            callers.append((name, try await holders.holder(named: file).grant))
        }
        return callers
    }

    /// - Returns: whether it was cancelled, because it lasts.
    private func perform(
        _ action: Action, _ trial: Trial, _ caller: String, _ grant: Grant?, _ limit: Duration
    ) async throws -> Bool {
        let about = "\(caller)/\(action.id)/\(trial.parameter)/\(trial.form)"
        // There is no such path. Among the system calls it says to what those after it belong.
        _ = unsafe access("/reach/\(about)", F_OK)
        let output = RecordingOutput()
        var line: JSONObject = [
            "caller": .string(caller), "action": .string(action.id), "parameter": .string(trial.parameter),
            "form": .string(trial.form),
        ]
        var said: [String] = []
        do {
            let value = try await context.perform(
                action, trial.arguments, narrowedBy: grant, asking: HeadlessInteraction(), output: output,
                limit: limit, isAgreed: true)
            line["outcome"] = "done"
            said.append(value.json.text())
        } catch {
            try Task.checkCancellation()
            let failure = AnyFailure(error)
            line["outcome"] = .string(failure.code)
            line["message"] = .string(String(failure.message.prefix(300)))
            said.append(failure.report.text())
        }
        said += output.notices + output.progress.map(\.activity)
        said += output.events.map { $0.json.text() + ($0.text ?? "") }
        line["leaks"] = .bool(said.contains { $0.contains(canary.word) })
        try await context.emit(ActionEvent("tried", line))
        return line["outcome"] == "host.timed-out"
    }
}

/// Why nothing could be tried.
private struct ReachFailure: Failure {
    let message: String
    var code: String { "reach.failed" }
}
