import Capabilities
import GatewayStore
import GatewayTurns
import HTTPCore
import HTTPServer

/// Sessions: conversations that the gateway remembers.
struct SessionRoutes {
    let services: APIServices
    private var store: GatewayStore { services.store }

    var all: [Route] {
        let id = RouteInput.path("id", "The session")
        return [
            Route(
                .get, "/v1/sessions", "listSessions", "Sessions, the last used first", .page, .pageSize,
                .query("project_id", "Only those of this project", as: String?.self)
            ) { _, page, size, project in try await list(page, size, project) },
            Route(
                .post, "/v1/sessions", "createSession", "Makes a session",
                .body(NewSessionBody.self, "What it is to be", unknown: .ignored)
            ) { _, body in try await create(body) }.refusing(.notFound),
            Route(.get, "/v1/sessions/stats", "getStats", "What all sessions come to") { _ in
                WireStats(stats: try await store.stats())
            },
            Route(.get, "/v1/sessions/{id}", "getSession", "One session", id) { _, id in
                WireSession(session: try await services.session(id))
            }.refusing(.notFound),
            Route(.delete, "/v1/sessions/{id}", "deleteSession", "Forgets a session and its messages", id) { _, id in
                try await delete(id)
            }.refusing(.notFound, .conflict),
            Route(
                .get, "/v1/sessions/{id}/messages", "listMessages", "The messages of a session, the oldest first", id,
                .page, .pageSize
            ) { _, id, page, size in try await messages(id, page, size) }.refusing(.notFound),
            Route(
                .post, "/v1/sessions/{id}/tools", "setTools", "Says which tools a session may use", id,
                .body(ToolsBody.self, "Which tools", unknown: .ignored)
            ) { request, id, body in
                let mayEndAudit = request.principal?.grant.decide(.route([.admin])).isAllowed != false
                return try await setTools(id, body, mayEndAudit: mayEndAudit)
            }.refusing(.notFound),
        ].map { $0.tagged("sessions") }
    }

    private func list(_ page: Int, _ size: Int, _ project: String?) async throws -> WirePage<WireSession> {
        let found = try await store.sessions(project: project, page: PageRequest(number: page, size: size))
        return WirePage(found, WireSession.init)
    }

    private func create(_ body: NewSessionBody) async throws -> WireSession {
        if let project = body.project { _ = try await services.project(project) }
        let turns = services.turns
        if let model = body.model { _ = try await turns.model(named: model) }
        try await turns.check(body.selection, inProject: body.project)
        let new = NewSession(
            project: body.project, title: body.title, model: body.model, systemPrompt: body.systemPrompt,
            selection: body.selection)
        return WireSession(session: try await store.createSession(new))
    }

    private func delete(_ id: String) async throws -> Deletion {
        _ = try await services.session(id)
        try await store.deleteSession(id)
        return Deletion(session: id)
    }

    private func messages(_ id: String, _ page: Int, _ size: Int) async throws -> WirePage<WireMessage> {
        _ = try await services.session(id)
        let found = try await store.storedMessages(of: id, page: PageRequest(number: page, size: size))
        return WirePage(found, WireMessage.init)
    }

    private func setTools(_ id: String, _ body: ToolsBody, mayEndAudit: Bool) async throws -> WireTools {
        let session = try await services.session(id)
        try await services.turns.check(body.selection, inProject: session.project)
        var selection = body.selection
        // It is there for those who look at what others do.
        if session.selection.auditLog, !mayEndAudit { selection.auditLog = true }
        try await store.setTools(selection, of: id)
        return WireTools(session: id, selection: selection)
    }
}
