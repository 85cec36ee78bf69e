public import Capabilities
import HTTPClient
import HTTPCore

extension RemoteGateway {
    public func toolServers(_ scope: AgentToolScope, project: String?) async throws -> Offered<[AgentToolServer]> {
        let call = GatewayCall(.get, "/mcp/servers", project.map { _ in .project }, project ?? "")
            .with("scope", scope.rawValue).with("project_id", project)
        return try await rows("a list of tool servers", from: call) { AgentToolServer($0) }
    }

    public func tools(ofServer id: String, project: String?) async throws -> Offered<[AgentTool]> {
        let call = GatewayCall(.get, "/mcp/servers/\(try word(id, .toolServer))/tools", .toolServer, id)
            .with("project_id", project)
        return try await rows("a list of tools", from: call) { AgentTool($0) }
    }

    public func setTools(_ selection: ToolSelection, ofSession id: String) async throws -> Offered<ToolSelection> {
        let call = GatewayCall(.post, "/sessions/\(try word(id, .session))/tools", .session, id).sending(selection.wire)
        return try await answer(to: call).map { response in
            // A server that only confirms applies what it was given.
            if response.body.isEmpty { return selection }
            return ToolSelection(try object("the tools of a session", in: response)) ?? selection
        }
    }

    public func approvals(ofSession id: String) async throws -> Offered<[AgentApproval]> {
        let call = GatewayCall(.get, "/sessions/\(try word(id, .session))/approvals", .session, id)
        return try await rows("a list of calls that wait for approval", from: call) { AgentApproval($0) }
    }

    public func answer(
        _ approval: String, ofSession session: String, _ answer: AgentApprovalAnswer
    ) async throws -> Offered<Nothing> {
        let path = "/sessions/\(try word(session, .session))/approvals/\(try word(approval, .approval))"
        let call = GatewayCall(.post, path, .approval, approval).sending(answer.wire)
        return try await confirmation("the answer was accepted", from: call)
    }
}

// MARK: - Accounts

extension RemoteGateway {
    public func usage(by group: UsageGroup, _ filter: UsageFilter) async throws -> Offered<[UsageSum]> {
        guard filter.provider == nil || filter.model != nil else {
            throw RemoteGatewayError(
                .invalid, "\(name) cannot be asked for the usage of a provider alone; name one of its models as well")
        }
        let model = filter.model.map { model in filter.provider.map { "\($0)/\(model)" } ?? model }
        let call = GatewayCall(.get, "/usage").with("by", group.rawValue).with("from", filter.from?.description)
            .with("to", filter.through?.description).with("project_id", filter.project)
            .with("session_id", filter.session).with("model", model).with("client", filter.client)
        return try await rows("sums of usage", from: call) { UsageSum($0) }
    }

    public func audit(ofSession id: String) async throws -> Offered<AgentList<AuditEntry>> {
        let call = GatewayCall(.get, "/sessions/\(try word(id, .session))/audit", .session, id)
        return try await pages("an audit log", from: call) { AuditEntry($0) }
    }
}
