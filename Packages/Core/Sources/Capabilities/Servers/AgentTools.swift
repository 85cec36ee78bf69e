public import JSON

/// The tools that a session may use.
public struct ToolSelection: Sendable, Hashable {
    /// Sources whose tools are offered; nil for all.
    public var servers: [String]?
    /// Tools that are offered; nil for all tools of these sources.
    public var tools: [String]?
    /// Preferred sources, in this order.
    public var priority: [String]
    /// Whether every call goes into the audit log.
    public var auditLog: Bool

    /// Without arguments it selects all tools.
    public init(
        servers: [String]? = nil, tools: [String]? = nil, priority: [String] = [], auditLog: Bool = false
    ) {
        self.servers = servers
        self.tools = tools
        self.priority = priority
        self.auditLog = auditLog
    }
}

/// Where a source of tools was set up.
public enum AgentToolScope: String, Choice, Hashable {
    case all, user, project
}

/// A source of tools at an agent server. Unknown values are nil.
public struct AgentToolServer: Record, Hashable {
    /// The id with which selections name it.
    public var id: String
    /// The name for people.
    public var name: String
    /// The server's word for its state, such as `running` or `error`.
    public var status: String?
    /// Why its tools are unavailable.
    public var problem: String?
    /// Whether sessions use it by default.
    public var isEnabled: Bool?
    /// Where it was set up; nil for a word that is not known here.
    public var scope: AgentToolScope?
    /// The version of the source.
    public var version: String?
    /// How many tools it has.
    public var tools: Int?

    /// Everything but the id and the name may be unknown.
    public init(
        id: String, name: String, status: String? = nil, problem: String? = nil, isEnabled: Bool? = nil,
        scope: AgentToolScope? = nil, version: String? = nil, tools: Int? = nil
    ) {
        self.id = id
        self.name = name
        self.status = status
        self.problem = problem
        self.isEnabled = isEnabled
        self.scope = scope
        self.version = version
        self.tools = tools
    }

    public static let fields: [Field<AgentToolServer>] = [
        Field("id", "Id of the source", .name) { $0.id },
        Field("name", "Name of the source") { $0.name },
        Field("status", "State of the source", .state) { $0.status },
        Field("problem", "Why its tools are unavailable") { $0.problem },
        Field("enabled", "Whether sessions use it by default") { $0.isEnabled },
        Field("scope", "Where it was set up") { $0.scope },
        Field("version", "Version of the source") { $0.version },
        Field("tools", "Number of tools") { $0.tools },
    ]
}

/// A tool at an agent server, in the server's own words, which are not to be trusted.
public struct AgentTool: Sendable, Hashable {
    /// The name of the tool.
    public var name: String
    /// What it does.
    public var summary: String
    /// What the server says it changes; nil if it says nothing.
    public var effect: Effect?
    /// The JSON Schema of its input.
    public var input: JSON

    /// By default the input is not described.
    public init(name: String, summary: String = "", effect: Effect? = nil, input: JSON = [:]) {
        self.name = name
        self.summary = summary
        self.effect = effect
        self.input = input
    }
}

/// A call that an agent server makes only after approval.
public struct AgentApproval: Sendable, Hashable {
    /// The id with which it is answered.
    public var id: String
    /// The session whose turn waits; nil if the server does not name it.
    public var session: String?
    /// The call: its id, the tool and the input.
    public var call: ToolCall
    /// The source of the tool; nil if the server does not name it.
    public var source: String?
    /// What the server says the call changes; nil if it says nothing.
    public var effect: Effect?
    /// The description of the tool.
    public var summary: String
    /// The files and folders that it reaches.
    public var paths: [String]
    /// The changes that it would make, as a diff.
    public var diff: String?
    /// What the server's sandbox does not prevent.
    public var caution: String?
    /// What a lasting answer would cover; nil if the answer counts only once.
    public var remembers: String?
    /// How long the server waits for the answer; nil if it does not say.
    public var limit: Duration?

    /// Everything but the id and the call may be unknown.
    public init(
        id: String, session: String? = nil, call: ToolCall, source: String? = nil, effect: Effect? = nil,
        summary: String = "", paths: [String] = [], diff: String? = nil, caution: String? = nil,
        remembers: String? = nil, limit: Duration? = nil
    ) {
        self.id = id
        self.session = session
        self.call = call
        self.source = source
        self.effect = effect
        self.summary = summary
        self.paths = paths
        self.diff = diff
        self.caution = caution
        self.remembers = remembers
        self.limit = limit
    }
}

/// The answer to a call that waits for approval.
public struct AgentApprovalAnswer: Sendable, Hashable {
    /// How long an answer applies.
    public enum Scope: String, Choice, Hashable {
        case once, session, project
    }

    /// Whether the call may run.
    public var isAllowed: Bool
    /// How long the answer applies.
    public var scope: Scope
    /// Why the call was denied, for the model.
    public var reason: String?

    /// By default the answer applies to this call only.
    public init(isAllowed: Bool, scope: Scope = .once, reason: String? = nil) {
        self.isAllowed = isAllowed
        self.scope = scope
        self.reason = reason
    }
}
