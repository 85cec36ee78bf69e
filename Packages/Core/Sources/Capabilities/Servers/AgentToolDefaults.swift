/// Knows which tools the person has chosen for new sessions of agent servers.
///
/// A session that exists has a choice of its own, which `AgentServer.setTools` changes.
public protocol AgentToolDefaults: AnyObject, Sendable {
    /// The tools with which a new session of a server starts. The server is asked what it has, but only if the person has
    /// chosen something for it.
    ///
    /// - Parameters:
    ///   - profile: the name of the server in the person's settings.
    ///   - project: the project of the session; nil if it has none, or none that is known.
    ///   - tell: receives what the person should know, such as that a tool server lists nothing now.
    /// - Returns: nil if nothing was chosen; `notOffered` if something was, and the server has no such choice.
    /// - Throws: if the server does not say what it has. A session must not start with more than was chosen then.
    func tools(
        forNewSessionOf server: any AgentServer, profile: String, project: String?,
        telling tell: @escaping @Sendable (String) -> Void
    ) async throws -> Offered<NewSessionTools>?
}

/// The tools that a new session of an agent server starts with. The server decides about members that are nil.
public struct NewSessionTools: Sendable, Hashable {
    /// Sources whose tools are offered.
    public var servers: [String]?
    /// Tools that are offered.
    public var tools: [String]?
    /// Preferred sources, in this order.
    public var priority: [String]?
    /// Whether every call goes into the audit log.
    public var auditLog: Bool?

    /// By default everything is left to the server.
    public init(
        servers: [String]? = nil, tools: [String]? = nil, priority: [String]? = nil, auditLog: Bool? = nil
    ) {
        self.servers = servers
        self.tools = tools
        self.priority = priority
        self.auditLog = auditLog
    }

    /// Whether everything is left to the server.
    public var isEmpty: Bool { self == NewSessionTools() }

    /// What a session does not apply of this, in words for a person; empty if it applies everything.
    ///
    /// - Parameter applied: what the server says of the session; nil if it says nothing.
    public func missing(in applied: ToolSelection?) -> [String] {
        var missing: [String] = []
        if let servers, applied?.servers.map(Set.init) != Set(servers) { missing.append("tool servers") }
        if let tools, applied?.tools.map(Set.init) != Set(tools) { missing.append("tools") }
        if let priority, applied?.priority != priority { missing.append("priority") }
        if let auditLog, applied?.auditLog != auditLog { missing.append("audit log") }
        return missing
    }
}
