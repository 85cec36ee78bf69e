public import Capabilities
public import JSON
public import Registry

/// Does the actions of a run.
public protocol StepPerformer: Sendable {
    /// Does an action with what it is given, within its limit and within what the bundle and those around it permit.
    ///
    /// - Parameter step: the key of the step, or of the one of its runs, that it is done for.
    func perform(
        _ action: String, _ arguments: JSONObject, step: String, output: any ActionOutput, limit: Duration,
        grant: Grant
    ) async throws -> JSON
    /// Does work within a limit, and ends with an error that says so when it is over.
    func within<Value: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value
}
