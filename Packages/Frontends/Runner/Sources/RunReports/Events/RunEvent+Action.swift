import Capabilities
import JSON
public import Registry
public import Runs

extension RunEvent {
    /// The version of the lines; it changes when a program that reads them could misunderstand them.
    public static let version = 1

    /// What a program is told: one object with a `type` and its members.
    ///
    /// - Parameter text: what a person is told by the same event.
    public func action(text: String? = nil) -> ActionEvent {
        switch self {
        case .began(let facts): ActionEvent("run_started", Self.fields(facts), text: text)
        case .step(let update) where update.outcome.status == .running && !update.isRestored:
            ActionEvent("step_started", Self.begun(update), text: text)
        case .step(let update): ActionEvent("step_ended", Self.ended(update), text: text)
        case .spread(let step, let count):
            ActionEvent("step_spread", ["step": .string(step), "count": .int(count)], text: text)
        case .output(let step, let event):
            ActionEvent("step_output", ["step": .string(step), "event": event.json], text: text)
        case .notice(let step, let message):
            ActionEvent("notice", Self.notice(step, message), text: text)
        case .ended(let summary): ActionEvent("run_ended", Self.fields(summary), text: text)
        }
    }

    private static func fields(_ facts: RunFacts) -> JSONObject {
        [
            "version": .int(version), "run": .string(facts.id.text), "name": .string(facts.name),
            "file": .string(facts.file), "time": facts.started.json, "resumed": .bool(facts.isResumed),
            "steps": facts.steps.json,
        ]
    }

    private static func begun(_ update: StepUpdate) -> JSONObject {
        var fields: JSONObject = [
            "step": .string(update.key), "does": .string(update.work), "attempt": .int(update.attempt),
            "time": update.time.json, "with": update.arguments,
        ]
        if update.isRepeated { fields.append("repeated", true) }
        return fields
    }

    private static func ended(_ update: StepUpdate) -> JSONObject {
        let outcome = update.outcome
        var fields: JSONObject = [
            "step": .string(update.key), "does": .string(update.work), "status": outcome.status.json,
            "attempt": .int(update.attempt), "time": update.time.json,
            "seconds": .double(outcome.duration / .seconds(1)), "exit": .int(outcome.exit), "result": outcome.result,
        ]
        if let error = outcome.error { fields.append("error", error.json) }
        for (name, value) in [
            ("restored", update.isRestored), ("cached", update.isCached), ("again", update.triesAgain),
            ("forgiven", outcome.isForgiven),
        ] where value {
            fields.append(name, true)
        }
        return fields
    }

    private static func notice(_ step: String?, _ message: String) -> JSONObject {
        var fields: JSONObject = ["message": .string(message)]
        if let step { fields.append("step", .string(step)) }
        return fields
    }

    private static func fields(_ summary: RunSummary) -> JSONObject {
        var fields: JSONObject = [
            "run": .string(summary.id.text), "status": summary.status.json, "exit": .int(Int(summary.exit.rawValue)),
            "time": summary.ended.json, "seconds": .double((summary.ended - summary.started) / .seconds(1)),
            "outputs": .object(summary.outputs),
        ]
        if let error = summary.error { fields.append("error", error.json) }
        return fields
    }
}
