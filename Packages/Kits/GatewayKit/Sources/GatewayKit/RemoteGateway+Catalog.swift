public import Capabilities
import HTTPClient
import HTTPCore
import JSON

extension RemoteGateway: ProjectCatalog {
    public func projects() async throws -> Offered<AgentList<AgentProject>> {
        try await pages("a list of projects", from: GatewayCall(.get, "/projects")) { AgentProject($0) }
    }

    public func project(_ id: String) async throws -> Offered<AgentProject> {
        let call = GatewayCall(.get, "/projects/\(try word(id, .project))", .project, id)
        return try await value("a project", from: call) { AgentProject($0) }
    }

    public func createProject(_ new: NewAgentProject) async throws -> Offered<AgentProject> {
        let call = GatewayCall(.post, "/projects").sending(new.wire)
        return try await value("a project", from: call) { AgentProject($0) }
    }

    public func deleteProject(_ id: String) async throws -> Offered<Nothing> {
        let call = GatewayCall(.delete, "/projects/\(try word(id, .project))", .project, id)
        return try await confirmation("the project \(PlainText.escape(id, limit: 100)) was deleted", from: call)
    }
}

extension RemoteGateway {
    /// A value that is made from an answer's object.
    func value<Value: Sendable>(
        _ what: String, from call: GatewayCall, _ read: (WireObject) -> Value?
    ) async throws -> Offered<Value> {
        try await answer(to: call).map { response in
            guard let value = read(try object(what, in: response)) else { throw badAnswer(what, response) }
            return value
        }
    }

    /// An answer whose content does not matter. A web page with status 200 confirms nothing.
    func confirmation(_ what: String, from call: GatewayCall) async throws -> Offered<Nothing> {
        try await answer(to: call).map { response in
            if !response.body.isEmpty { _ = try json("a confirmation that \(what)", in: response) }
            return Nothing()
        }
    }
}
