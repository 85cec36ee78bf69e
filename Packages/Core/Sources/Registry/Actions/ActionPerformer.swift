public import Capabilities
public import JSON

/// Does actions for what is itself an action, such as the run of a bundle.
public protocol ActionPerformer: AnyObject, Sendable {
    /// Begins a session, which has to be ended.
    func session(in host: Host) -> any ActionSession
}

/// Actions that are done one after another or side by side, and share the features that they need.
public protocol ActionSession: AnyObject, Sendable {
    /// Does an action: starts what it needs and is not started yet, and does it within the limit.
    ///
    /// - Parameter isAgreed: whether the person has agreed beforehand to what destroys.
    func perform(
        _ action: Action, _ arguments: JSONObject, interaction: any Interaction, output: any ActionOutput,
        limit: Duration?, isAgreed: Bool
    ) async throws -> any OutputValue
    /// The provider of a capability, with its feature started; nil when there is none.
    func provider<C: Sendable>(of capability: C.Type) async -> C?
    /// Does work that is given up when the limit is over, whether or not it listens.
    func within<Value: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value
    /// Stops everything that was started; tells which features did not stop in time.
    func end() async -> [String]
}
