public import Capabilities
public import TurnLoop

/// A conversation that the gateway remembers, without its messages.
public struct Session: Sendable, Hashable {
    public let id: String
    public let project: String?
    /// What it was named, or else the beginning of the first message of its user; empty before that.
    public let title: String
    public let model: String?
    public let systemPrompt: String?
    public let selection: ToolSelection
    /// What its user has approved or denied for as long as it lasts.
    public let rules: [ApprovalRule]
    /// How many messages it has.
    public let messages: Int
    public let usage: UsageSum
    /// Whether a turn runs, in this process or another.
    public let isRunning: Bool
    public let created: Timestamp
    public let updated: Timestamp
}

/// What a session begins with.
public struct NewSession: Sendable, Hashable {
    public var project: String?
    public var title: String?
    public var model: String?
    public var systemPrompt: String?
    public var selection: ToolSelection
    public var rules: [ApprovalRule]

    public init(
        project: String? = nil, title: String? = nil, model: String? = nil, systemPrompt: String? = nil,
        selection: ToolSelection = ToolSelection(), rules: [ApprovalRule] = []
    ) {
        self.project = project
        self.title = title
        self.model = model
        self.systemPrompt = systemPrompt
        self.selection = selection
        self.rules = rules
    }
}

/// Which tools a session may use.
public struct ToolSelection: Sendable, Hashable {
    /// Sources whose tools are offered; all when nil.
    public var servers: [String]?
    /// Tools that are offered; all of these sources when nil.
    public var tools: [String]?
    /// Sources in the order in which they are preferred.
    public var priority: [String]
    /// Whether each call goes into the audit log.
    public var auditLog: Bool

    public init(
        servers: [String]? = nil, tools: [String]? = nil, priority: [String] = [], auditLog: Bool = false
    ) {
        self.servers = servers
        self.tools = tools
        self.priority = priority
        self.auditLog = auditLog
    }
}
