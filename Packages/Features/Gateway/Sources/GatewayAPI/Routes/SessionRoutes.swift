import Capabilities
import GatewayStore
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON

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

/// A session as clients see it.
struct WireSession: Record {
    let session: Session

    static let fields: [Field<WireSession>] = [
        Field("id", "Its id") { $0.session.id },
        Field("object", "Always session") { _ in "session" },
        Field("project_id", "The project in whose folder its tools work") { $0.session.project },
        Field("title", "What people call it; of the first message where none was given", .name) { $0.session.title },
        Field("model", "The model that is asked when a request names none") { $0.session.model },
        Field("system_prompt", "What the model is told before anything else") { $0.session.systemPrompt },
        Field("created_at", "When it was made") { $0.session.created },
        Field("updated_at", "When something was last done in it") { $0.session.updated },
        Field("is_active", "Always: a session that is listed can be used") { _ in true },
        Field("is_running", "Whether a turn runs") { $0.session.isRunning },
        Field("total_tokens", "Tokens used in it, as far as they are known") { $0.session.usage.tokens },
        Field("total_cost", "US dollars spent in it, as far as it is known") { $0.session.usage.usage.cost },
        Field("message_count", "How many messages it has") { $0.session.messages },
        Field("enabled_servers", "Sources of tools that may be used; all when absent") { $0.session.selection.servers },
        Field("enabled_tools", "Tools that may be used; all of those when absent") { $0.session.selection.tools },
        Field("priority", "Sources in the order in which their tools are offered") { $0.session.selection.priority },
        Field("audit_log", "Whether each call is written into the audit") { $0.session.selection.auditLog },
    ]
}

/// A session that a client wants.
struct NewSessionBody: InputValue {
    let project: String?
    let title: String?
    let model: String?
    let systemPrompt: String?
    let selection: ToolSelection

    static let schema = Schema.record([
        Schema.Property("project_id", "The project; without one the session has no tools", .optional(.string)),
        Schema.Property("title", "What people call it", .optional(.string)),
        Schema.Property("model", "The model that is asked when a request names none", .optional(.string)),
        Schema.Property("system_prompt", "What the model is told before anything else", .optional(.string)),
        Schema.Property("mcp", "Which tools it may use", .optional(ToolsBody.schema)),
    ])

    init(json: JSON) throws(ValueError) {
        project = json["project_id"]?.string
        title = json["title"]?.string
        model = json["model"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        systemPrompt = json["system_prompt"]?.string
        selection = try ToolsBody(json: json["mcp"] ?? [:]).selection
    }
}

/// How a session is right now.
struct WireStatus: Record {
    let session: Session
    let isRunning: Bool
    let approvals: Int

    static let fields: [Field<WireStatus>] = [
        Field("session_id", "The session", .name) { $0.session.id },
        Field("project_id", "The project in whose folder its tools work") { $0.session.project },
        Field("model", "The model that is asked when a request names none") { $0.session.model },
        Field("is_running", "Whether a turn runs") { $0.isRunning },
        Field("message_count", "How many messages it has") { $0.session.messages },
        Field("total_tokens", "Tokens used in it, as far as they are known") { $0.session.usage.tokens },
        Field("total_cost", "US dollars spent in it, as far as it is known") { $0.session.usage.usage.cost },
        Field("created_at", "When it was made") { $0.session.created },
        Field("updated_at", "When something was last done in it") { $0.session.updated },
        Field("enabled_servers", "Sources of tools that may be used; all when absent") { $0.session.selection.servers },
        Field("enabled_tools", "Tools that may be used; all of those when absent") { $0.session.selection.tools },
        Field("priority", "Sources in the order in which their tools are offered") { $0.session.selection.priority },
        Field("open_approvals", "How many calls wait for somebody's word") { $0.approvals },
    ]
}

/// What all sessions come to.
struct WireStats: Record {
    let stats: Stats

    static let fields: [Field<WireStats>] = [
        Field("session_stats", "The sums") { SessionSums(stats: $0.stats) },
        Field("active_claude_sessions", "How many sessions have a turn running, under the name that others use") {
            $0.stats.running.count
        },
        Field("claude_sessions", "Which ones") { $0.stats.running },
    ]
}

/// The sums of all sessions.
struct SessionSums: Record {
    let stats: Stats

    static let fields: [Field<SessionSums>] = [
        Field("active_sessions", "How many sessions have a turn running") { $0.stats.running.count },
        Field("total_sessions", "How many sessions there are") { $0.stats.sessions },
        Field("total_projects", "How many projects there are") { $0.stats.projects },
        Field("total_tokens", "Tokens used, as far as they are known") { $0.stats.usage.tokens },
        Field("total_cost", "US dollars spent, as far as it is known") { $0.stats.usage.usage.cost },
        Field("total_messages", "How many messages they have") { $0.stats.messages },
        Field("models_in_use", "The models of the sessions") { $0.stats.models },
    ]
}

/// A message of a session as it was stored.
struct WireMessage: Record {
    let stored: StoredMessage

    static let fields: [Field<WireMessage>] = [
        Field("number", "Its place in the session, which never changes") { $0.stored.number },
        Field("object", "Always message") { _ in "message" },
        Field("role", "Who wrote it", .name) { $0.stored.message.role },
        Field("content", "All its text") { $0.stored.message.text },
        Field("parts", "Its pieces in order: text, reasoning, tool_use, tool_result and others, by type") {
            $0.stored.message.parts.map(Self.json)
        },
        Field("is_whole", "False for an answer that was stopped or broke off") { $0.stored.isWhole },
        Field("problem", "What went wrong with it") { $0.stored.problem },
        Field("model", "Which model wrote it") { $0.model },
        Field("usage", "What it took") { $0.stored.usage.map(WireUsage.init) },
        Field("created_at", "When it was stored") { $0.stored.time },
    ]

    private var model: String? {
        guard let model = stored.model else { return nil }
        return stored.provider.map { "\($0)/\(model)" } ?? model
    }

    private static func json(_ part: Message.Part) -> JSON {
        switch part {
        case .text(let text): ["type": "text", "text": .string(text)]
        case .reasoning(let reasoning): ["type": "reasoning", "text": .string(reasoning.text)]
        case .refusal(let text): ["type": "refusal", "text": .string(text)]
        case .attachment(let file):
            [
                "type": "attachment", "name": .string(file.name), "media_type": .string(file.mediaType),
                "size": .int(file.bytes.count),
            ]
        case .call(let call): WireCall(call: call).json
        case .malformedCall(let call):
            ["type": "tool_use", "id": .string(call.id), "name": .string(call.name), "text": .string(call.text)]
        case .result(let result): WireResult(result: result, name: nil).json
        }
    }
}

/// What was used, under the names of gateways and of OpenAI's API. What nobody told is left out.
struct WireUsage: Record {
    let usage: Usage

    static let fields: [Field<WireUsage>] = [
        Field("input_tokens", "Tokens read by the model") { $0.usage.inputTokens },
        Field("output_tokens", "Tokens written by the model") { $0.usage.outputTokens },
        Field("prompt_tokens", "The same as input_tokens") { $0.usage.inputTokens },
        Field("completion_tokens", "The same as output_tokens") { $0.usage.outputTokens },
        Field("total_tokens", "Both together") { wire in
            wire.usage.inputTokens.flatMap { input in wire.usage.outputTokens.map { input + $0 } }
        },
        Field("total_cost", "US dollars") { $0.usage.cost },
    ]
}

/// Which tools a session may use: what `mcp` is in a request, and the body of `POST /v1/sessions/{id}/tools`.
struct ToolsBody: InputValue {
    let selection: ToolSelection

    private static let names = Schema.optional(.array(.string))

    static let schema = Schema.record([
        Schema.Property("enabled_servers", "Sources of tools that may be used; all when absent", names),
        Schema.Property("enabled_tools", "Tools that may be used, by name; all of those sources when absent", names),
        Schema.Property("priority", "Sources in the order in which their tools are offered", names),
        Schema.Property("audit_log", "Whether each call is written into the audit", .optional(.boolean)),
    ])

    init(json: JSON) throws(ValueError) {
        func names(_ key: String) -> [String]? { json[key]?.array?.compactMap(\.string) }
        selection = ToolSelection(
            servers: names("enabled_servers"), tools: names("enabled_tools"), priority: names("priority") ?? [],
            auditLog: json["audit_log"]?.bool ?? false)
    }
}

/// Which tools a session may use, as it is told.
struct WireTools: Record {
    let session: String
    let selection: ToolSelection

    static let fields: [Field<WireTools>] = [
        Field("session_id", "The session") { $0.session },
        Field("enabled_servers", "Sources of tools that may be used; all when absent") { $0.selection.servers },
        Field("enabled_tools", "Tools that may be used; all of those sources when absent") { $0.selection.tools },
        Field("priority", "Sources in the order in which their tools are offered") { $0.selection.priority },
        Field("audit_log", "Whether each call is written into the audit") { $0.selection.auditLog },
    ]
}
