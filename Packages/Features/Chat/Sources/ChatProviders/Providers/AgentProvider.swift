package import Capabilities
package import TurnLoop

/// A provider whose server may run tools of its own, and asks before it uses some of them.
package protocol AgentProvider: ModelProvider {
    /// Asks a model as `answer` does.
    ///
    /// - Parameter approve: answers what the server asks; without it the server denies at once what it would have to ask.
    func answer(
        _ request: ChatRequest, approve: TurnLoop.Approve?, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer

    /// The id of a project that the server knows by this name or id. A server that lists no projects decides itself what
    /// it takes.
    func project(named name: String) async throws -> String
}
