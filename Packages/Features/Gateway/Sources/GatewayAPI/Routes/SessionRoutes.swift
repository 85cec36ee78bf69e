import Capabilities
import GatewayStore
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON

/// Routes for sessions, the conversations that the gateway stores.
struct SessionRoutes {
    let services: APIServices
    private var store: GatewayStore { services.store }

    var all: [Route] {
        let id = RouteInput.path("id", "The session")
        return [
            Route(
                .get, "/v1/sessions", "listSessions", "List sessions, most recently used first", .page, .pageSize,
                .query("project_id", "Only sessions of this project", as: String?.self)
            ) { _, page, size, project in try await list(page, size, project) },
            Route(
                .post, "/v1/sessions", "createSession", "Create a session",
                .body(NewSessionBody.self, "The session", unknown: .ignored)
            ) { _, body in try await create(body) }.refusing(.notFound),
            Route(.get, "/v1/sessions/stats", "getStats", "Get totals of all sessions") { _ in
                WireStats(stats: try await store.stats())
            },
            Route(.get, "/v1/sessions/{id}", "getSession", "Get a session", id) { _, id in
                WireSession(session: try await services.session(id))
            }.refusing(.notFound),
            Route(.delete, "/v1/sessions/{id}", "deleteSession", "Delete a session and its messages", id) { _, id in
                try await delete(id)
            }.refusing(.notFound, .conflict),
            Route(
                .get, "/v1/sessions/{id}/messages", "listMessages", "List the messages of a session, oldest first", id,
                .page, .pageSize
            ) { _, id, page, size in try await messages(id, page, size) }.refusing(.notFound),
            Route(
                .post, "/v1/sessions/{id}/tools", "setTools", "Set the tools that a session may use", id,
                .body(ToolsBody.self, "The tools", unknown: .ignored)
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
        let new = NewSession(
            project: body.project, title: body.title, model: body.model, systemPrompt: body.systemPrompt,
            selection: body.selection)
        return WireSession(session: try await services.createSession(new))
    }

    private func delete(_ id: String) async throws -> Deletion {
        try await services.deleteSession(id)
        return Deletion(session: id)
    }

    private func messages(_ id: String, _ page: Int, _ size: Int) async throws -> WirePage<WireMessage> {
        _ = try await services.session(id)
        let found = try await store.storedMessages(of: id, page: PageRequest(number: page, size: size))
        return WirePage(found, WireMessage.init)
    }

    private func setTools(_ id: String, _ body: ToolsBody, mayEndAudit: Bool) async throws -> WireTools {
        let selection = try await services.setTools(body.selection, of: id, mayEndAudit: mayEndAudit)
        return WireTools(session: id, selection: selection)
    }
}

/// A session, as sent to clients.
struct WireSession: Record {
    let session: Session

    static let fields: [Field<WireSession>] = [
        Field("id", "Id of the session") { $0.session.id },
        Field("object", "Always session") { _ in "session" },
        Field("project_id", "Project in whose folder its tools work") { $0.session.project },
        Field("title", "Title; by default taken from the first message", .name) { $0.session.title },
        Field("model", "Model for requests that name none") { $0.session.model },
        Field("system_prompt", "Instructions for the model") { $0.session.systemPrompt },
        Field("created_at", "Creation time") { $0.session.created },
        Field("updated_at", "Time of the last use") { $0.session.updated },
        Field("is_active", "Always true: a listed session can be used") { _ in true },
        Field("is_running", "Whether a turn is running") { $0.session.isRunning },
        Field("total_tokens", "Tokens used, as far as known") { $0.session.usage.tokens },
        Field("total_cost", "Cost in US dollars, as far as known") { $0.session.usage.usage.cost },
        Field("message_count", "Number of messages") { $0.session.messages },
        Field("enabled_servers", "Allowed sources of tools; absent for all") { $0.session.selection.servers },
        Field("enabled_tools", "Allowed tools of these sources; absent for all") { $0.session.selection.tools },
        Field("priority", "Sources whose tools are offered first, in this order") { $0.session.selection.priority },
        Field("audit_log", "Whether every call is written to the audit log") { $0.session.selection.auditLog },
    ]
}

/// The body for creating a session.
struct NewSessionBody: InputValue {
    let project: String?
    let title: String?
    let model: String?
    let systemPrompt: String?
    let selection: ToolSelection

    static let schema = Schema.record([
        Schema.Property("project_id", "Project; without one the session has no file tools", .optional(.string)),
        Schema.Property("title", "Title of the session", .optional(.string)),
        Schema.Property("model", "Model for requests that name none", .optional(.string)),
        Schema.Property("system_prompt", "Instructions for the model", .optional(.string)),
        Schema.Property("mcp", "Tools that it may use", .optional(ToolsBody.schema)),
    ])

    init(json: JSON) throws(ValueError) {
        project = json["project_id"]?.string
        title = json["title"]?.string
        model = json["model"]?.string.flatMap { $0.isEmpty ? nil : $0 }
        systemPrompt = json["system_prompt"]?.string
        selection = try ToolsBody(json: json["mcp"] ?? [:]).selection
    }
}

/// The status of a session.
struct WireStatus: Record {
    let session: Session
    let isRunning: Bool
    let approvals: Int

    static let fields: [Field<WireStatus>] = [
        Field("session_id", "The session", .name) { $0.session.id },
        Field("project_id", "Project in whose folder its tools work") { $0.session.project },
        Field("model", "Model for requests that name none") { $0.session.model },
        Field("is_running", "Whether a turn is running") { $0.isRunning },
        Field("message_count", "Number of messages") { $0.session.messages },
        Field("total_tokens", "Tokens used, as far as known") { $0.session.usage.tokens },
        Field("total_cost", "Cost in US dollars, as far as known") { $0.session.usage.usage.cost },
        Field("created_at", "Creation time") { $0.session.created },
        Field("updated_at", "Time of the last use") { $0.session.updated },
        Field("enabled_servers", "Allowed sources of tools; absent for all") { $0.session.selection.servers },
        Field("enabled_tools", "Allowed tools of these sources; absent for all") { $0.session.selection.tools },
        Field("priority", "Sources whose tools are offered first, in this order") { $0.session.selection.priority },
        Field("audit_log", "Whether every call is written to the audit log") { $0.session.selection.auditLog },
        Field("open_approvals", "Number of calls waiting for approval") { $0.approvals },
    ]
}

/// The totals of all sessions.
struct WireStats: Record {
    let stats: Stats

    static let fields: [Field<WireStats>] = [
        Field("session_stats", "Totals of all sessions") { SessionSums(stats: $0.stats) },
        Field("active_claude_sessions", "Same as active_sessions, for clients of other gateways") {
            $0.stats.running.count
        },
        Field("claude_sessions", "Ids of the sessions with a running turn") { $0.stats.running },
    ]
}

/// The figures of the totals.
struct SessionSums: Record {
    let stats: Stats

    static let fields: [Field<SessionSums>] = [
        Field("active_sessions", "Number of sessions with a running turn") { $0.stats.running.count },
        Field("total_sessions", "Number of sessions") { $0.stats.sessions },
        Field("total_projects", "Number of projects") { $0.stats.projects },
        Field("total_tokens", "Tokens used, as far as known") { $0.stats.usage.tokens },
        Field("total_cost", "Cost in US dollars, as far as known") { $0.stats.usage.usage.cost },
        Field("total_messages", "Number of messages in all sessions") { $0.stats.messages },
        Field("models_in_use", "Models of the sessions") { $0.stats.models },
    ]
}

/// A stored message of a session.
struct WireMessage: Record {
    let stored: StoredMessage

    static let fields: [Field<WireMessage>] = [
        Field("number", "Number of the message, which never changes") { $0.stored.number },
        Field("object", "Always message") { _ in "message" },
        Field("role", "Who wrote it", .name) { $0.stored.message.role },
        Field("content", "The whole text") { $0.stored.message.text },
        Field("parts", "Parts in order, by type: text, reasoning, tool_use, tool_result and others") {
            $0.stored.message.parts.map(Self.json)
        },
        Field("is_whole", "False for an answer that was stopped or interrupted") { $0.stored.isWhole },
        Field("problem", "Why it cannot be read") { $0.stored.problem },
        Field("model", "Model that wrote it") { $0.model },
        Field("usage", "Tokens and cost") { $0.stored.usage.map(WireUsage.init) },
        Field("created_at", "Time it was stored") { $0.stored.time },
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

/// Usage, under the names of gateways and of OpenAI's API. Unknown values are left out.
struct WireUsage: Record {
    let usage: Usage

    static let fields: [Field<WireUsage>] = [
        Field("input_tokens", "Tokens read by the model") { $0.usage.inputTokens },
        Field("output_tokens", "Tokens written by the model") { $0.usage.outputTokens },
        Field("prompt_tokens", "The same as input_tokens") { $0.usage.inputTokens },
        Field("completion_tokens", "The same as output_tokens") { $0.usage.outputTokens },
        Field("total_tokens", "Tokens read and written") { wire in
            wire.usage.inputTokens.flatMap { input in wire.usage.outputTokens.map { input + $0 } }
        },
        Field("total_cost", "Cost in US dollars") { $0.usage.cost },
    ]
}

/// The tools that a session may use: the member `mcp` of a request, and the body of `POST /v1/sessions/{id}/tools`.
struct ToolsBody: InputValue {
    let selection: ToolSelection

    private static let names = Schema.optional(.array(.string))

    static let schema = Schema.record([
        Schema.Property("enabled_servers", "Allowed sources of tools; absent for all", names),
        Schema.Property("enabled_tools", "Names of allowed tools of these sources; absent for all", names),
        Schema.Property("priority", "Sources whose tools are offered first, in this order", names),
        Schema.Property("audit_log", "Whether every call is written to the audit log", .optional(.boolean)),
    ])

    init(json: JSON) throws(ValueError) {
        func names(_ key: String) -> [String]? { json[key]?.array?.compactMap(\.string) }
        selection = ToolSelection(
            servers: names("enabled_servers"), tools: names("enabled_tools"), priority: names("priority") ?? [],
            auditLog: json["audit_log"]?.bool ?? false)
    }
}

/// Confirms the tools that a session may use.
struct WireTools: Record {
    let session: String
    let selection: ToolSelection

    static let fields: [Field<WireTools>] = [
        Field("session_id", "The session") { $0.session },
        Field("enabled_servers", "Allowed sources of tools; absent for all") { $0.selection.servers },
        Field("enabled_tools", "Allowed tools of these sources; absent for all") { $0.selection.tools },
        Field("priority", "Sources whose tools are offered first, in this order") { $0.selection.priority },
        Field("audit_log", "Whether every call is written to the audit log") { $0.selection.auditLog },
    ]
}
