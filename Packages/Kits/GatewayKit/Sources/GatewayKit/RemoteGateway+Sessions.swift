public import Capabilities
import HTTPClient
import HTTPCore
public import JSON
import ModelKit
import OpenAIDialect

extension RemoteGateway: AgentServer {
    public func health() async throws -> Offered<AgentHealth> {
        var call = GatewayCall(.get, "/health")
        call.isAtRoot = true
        let response = try await response(to: call)
        // A gateway whose agent does not start answers this status with its health.
        if response.status == .serviceUnavailable,
            let told = try? WireObject(json("a health", in: response)), told.text("status") != nil
        {
            return .value(AgentHealth(told))
        }
        guard response.status.isSuccess else {
            let refusal = GatewayRefusal(response, to: call, of: self)
            if refusal.isMissingRoute { return .notOffered }
            throw refusal.error
        }
        let told = try object("a health", in: response)
        guard told["status"] != nil || told["ok"] != nil else { throw badAnswer("a health", response) }
        return .value(AgentHealth(told))
    }

    public func stats() async throws -> Offered<AgentStats> {
        try await value("totals of sessions", from: GatewayCall(.get, "/sessions/stats")) { AgentStats($0) }
    }

    public func sessions(ofProject project: String?) async throws -> Offered<AgentList<AgentSession>> {
        let call = GatewayCall(.get, "/sessions").with("project_id", project)
        return try await pages("a list of sessions", from: call) { AgentSession($0) }
    }

    public func session(_ id: String) async throws -> Offered<AgentSession> {
        let call = GatewayCall(.get, "/sessions/\(try word(id, .session))", .session, id)
        return try await value("a session", from: call) { AgentSession($0) }
    }

    public func createSession(_ new: NewAgentSession) async throws -> Offered<AgentSession> {
        let call = GatewayCall(.post, "/sessions", new.project.map { _ in .project }, new.project ?? "")
        return try await value("a session", from: call.sending(new.wire)) { AgentSession($0) }
    }

    public func endSession(_ id: String) async throws -> Offered<Nothing> {
        let call = GatewayCall(.delete, "/sessions/\(try word(id, .session))", .session, id)
        return try await confirmation("the session \(PlainText.escape(id, limit: 100)) was deleted", from: call)
    }

    public func status(ofSession id: String) async throws -> Offered<AgentStatus> {
        let call = GatewayCall(.get, "/chat/completions/\(try word(id, .session))/status", .session, id)
        return try await value("the status of a session", from: call) { AgentStatus($0) }
    }

    public func stop(session id: String) async throws -> Offered<AgentStop> {
        let call = GatewayCall(.delete, "/chat/completions/\(try word(id, .session))", .session, id)
        return try await answer(to: call).map { response in
            guard !response.body.isEmpty else { return AgentStop(wasRunning: nil) }
            switch try object("the effect of a stop", in: response).text("status") {
            case "stopped": return AgentStop(wasRunning: true)
            case "idle": return AgentStop(wasRunning: false)
            default: return AgentStop(wasRunning: nil)
            }
        }
    }
}

// MARK: - Models

extension RemoteGateway {
    /// The models, in the order of the server.
    public func models() async throws -> Offered<[ModelDescription]> { try await models(GatewayCall(.get, "/models")) }

    /// The models with what they can do and cost. Many servers have no such list.
    public func modelCapabilities() async throws -> Offered<[ModelDescription]> {
        var call = GatewayCall(.get, "/models/capabilities")
        // The route of a single model, which is `capabilities` then, wins on such servers.
        call.isShadowed = true
        return try await models(call)
    }

    /// One model. The server may know more names than it lists.
    public func model(_ id: String) async throws -> Offered<ModelDescription> {
        let call = GatewayCall(.get, "/models/\(try word(id, .model))", .model, id)
        return try await value("a model", from: call) { wire in
            wire.text("id").map {
                ModelDescription(id: $0, provider: self.server.name, name: wire.text("display_name"))
            }
        }
    }

    private func models(_ call: GatewayCall) async throws -> Offered<[ModelDescription]> {
        try await answer(to: call).map { response in
            do throws(DialectError) {
                return try OpenAIDialect.models(in: response.body, provider: server.name)
            } catch {
                throw badAnswer("a list of models", response)
            }
        }
    }

    /// How the server would understand a chat request, for diagnosis.
    public func debug(_ request: JSONObject) async throws -> Offered<JSONObject> {
        let call = GatewayCall(.post, "/chat/completions/debug").sending(request)
        return try await value("an account of a request", from: call) { $0.members }
    }
}
