import Bundles
import Capabilities
import JSON
import Registry
import Runs

/// Does the actions of a run through the registry, within what the bundle permits.
struct RegistryPerformer: StepPerformer {
    /// That of the run: its steps are done in the composition against which it was checked.
    let context: ActionContext
    /// Asks nobody.
    let interaction: any Interaction

    func perform(
        _ name: String, _ arguments: JSONObject, step: String, output: any ActionOutput, limit: Duration,
        grant: Grant
    ) async throws -> JSON {
        let action = try context.registry.actions.find(name)
        guard action.id != RunAction.id else { throw RunnerError.runsItself }
        let value = try await timed(limit) {
            // What destroys was agreed to by what the bundle says, or it is refused there.
            try await context.perform(
                action, arguments, narrowedBy: grant, asking: interaction, output: output, limit: limit, isAgreed: true)
        }
        guard value.exit == .done else { throw RunnerError.ended(action: action.id, value.exit, result: value.json) }
        return value.json
    }

    func within<Value: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await timed(limit) { try await context.within(limit, work) }
    }

    /// The limit is the bundle's, and so are the words about it.
    private func timed<Value>(_ limit: Duration, _ work: () async throws -> Value) async throws -> Value {
        do { return try await work() } catch let error as any Failure where error.code == "host.timed-out" {
            throw RunnerError.timedOut(limit)
        }
    }
}
