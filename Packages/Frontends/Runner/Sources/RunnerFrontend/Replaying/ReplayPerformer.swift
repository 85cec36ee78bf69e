import Bundles
import Capabilities
import JSON
import Registry
import Runs
import Synchronization

/// Gives for each action what the recording has of it, and does none.
final class ReplayPerformer: StepPerformer {
    private let context: ActionContext
    /// The attempts of each step that are left, the last one first.
    private let calls: Mutex<[String: [RecordedStep]]>

    init(_ recording: Recording, _ context: ActionContext) {
        self.context = context
        var calls: [String: [RecordedStep]] = [:]
        for step in recording.steps.reversed() where step.status == .ok || step.status == .failed {
            calls[step.key, default: []].append(step)
        }
        self.calls = Mutex(calls)
    }

    func perform(
        _ action: String, _ arguments: JSONObject, step: String, output: any ActionOutput, limit: Duration,
        grant: Grant
    ) async throws -> JSON {
        guard let call = calls.withLock({ $0[step]?.popLast() }) else { throw RunnerError.notRecorded(step) }
        for event in call.events {
            var fields = event.object ?? [:]
            fields["type"] = nil
            try await output.event(ActionEvent(event["type"]?.string ?? "event", fields))
        }
        guard let error = call.error else { return call.result }
        throw RunnerError.replayed(
            code: error.code, message: error.message, ExitCode(rawValue: Int32(call.exit)), result: call.result)
    }

    func within<Value: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await context.within(limit, work)
    }
}
