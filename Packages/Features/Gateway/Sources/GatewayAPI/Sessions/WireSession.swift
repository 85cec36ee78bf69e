import Capabilities
import GatewayStore
import JSON

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
