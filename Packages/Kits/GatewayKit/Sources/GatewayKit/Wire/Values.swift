public import Capabilities
public import JSON

// The values of Core as gateways write them. A row that has no id is none.

extension AgentProject {
    init?(_ wire: WireObject) {
        guard let id = wire.text("id") else { return nil }
        self.init(
            id: id, name: wire.text("name") ?? id, summary: wire.text("description"), path: wire.text("path"),
            created: wire.time("created_at"), updated: wire.time("updated_at"), sessions: wire.count("session_count"),
            tokens: wire.spentTokens(), cost: wire.spentCost())
    }
}

extension NewAgentProject {
    var wire: JSONObject {
        var body: JSONObject = ["name": .string(name)]
        body["description"] = summary.map(JSON.string)
        body["path"] = path.map(JSON.string)
        return body
    }
}

extension AgentHealth {
    init(_ wire: WireObject) {
        let isHealthy = wire.text("status").map { $0 == "healthy" || $0 == "ok" } ?? wire.flag("ok") ?? false
        self.init(
            isHealthy: isHealthy, version: wire.text("version"), agentVersion: wire.text("claude_version"),
            activeSessions: wire.count("active_sessions"),
            problem: wire.text("error") ?? wire["error"]?["message"]?.string)
    }
}

extension AgentStats {
    init(_ wire: WireObject) {
        let sums = wire["session_stats"].flatMap { WireObject($0) } ?? wire
        self.init(
            activeSessions: wire.count("active_claude_sessions") ?? sums.count("active_sessions"),
            running: wire.names("claude_sessions") ?? [], sessions: sums.count("total_sessions"),
            projects: sums.count("total_projects"), messages: sums.count("total_messages"), tokens: sums.spentTokens(),
            cost: sums.spentCost(), models: sums.names("models_in_use") ?? [])
    }
}

extension AgentSession {
    init?(_ wire: WireObject) {
        guard let id = wire.text("id") ?? wire.text("session_id") else { return nil }
        // Some servers show this instead of the title that was given.
        let title = wire.text("title").flatMap { $0 == "Session \(id.prefix(8))" ? nil : $0 }
        self.init(
            id: id, project: wire.text("project_id"), title: title, model: wire.text("model"),
            systemPrompt: wire.text("system_prompt"), isRunning: wire.flag("is_running"),
            created: wire.time("created_at"), updated: wire.time("updated_at"), messages: wire.count("message_count"),
            tokens: wire.spentTokens(), cost: wire.spentCost(), tools: ToolSelection(wire))
    }
}

extension NewAgentSession {
    var wire: JSONObject {
        var body: JSONObject = [:]
        body["project_id"] = project.map(JSON.string)
        body["title"] = title.map(JSON.string)
        body["model"] = model.map(JSON.string)
        body["system_prompt"] = systemPrompt.map(JSON.string)
        body["mcp"] = tools.map { .object($0.wire) }
        return body
    }
}

extension AgentStatus {
    init?(_ wire: WireObject) {
        guard var session = AgentSession(wire) else { return nil }
        let isRunning = wire.flag("is_running") ?? false
        session.isRunning = isRunning
        self.init(session: session, isRunning: isRunning, openApprovals: wire.count("open_approvals"))
    }
}

extension AgentFile {
    init?(_ wire: WireObject) {
        guard let path = wire.text("path") ?? wire.text("name") else { return nil }
        self.init(
            path: path, kind: wire.text("kind").flatMap(Kind.init(rawValue:)) ?? .other, size: wire.count("size"),
            modified: wire.time("modified_at"), etag: wire.text("etag"))
    }
}

extension ToolSelection {
    /// Nil if the object has none of the members, as that of a server without such a choice.
    init?(_ wire: WireObject) {
        let (servers, tools) = (wire.names("enabled_servers"), wire.names("enabled_tools"))
        let (priority, log) = (wire.names("priority"), wire.flag("audit_log"))
        guard servers != nil || tools != nil || priority != nil || log != nil else { return nil }
        self.init(servers: servers, tools: tools, priority: priority ?? [], auditLog: log ?? false)
    }

    var wire: JSONObject {
        func list(_ names: [String]) -> JSON { .array(names.map(JSON.string)) }
        var body: JSONObject = ["priority": list(priority), "audit_log": .bool(auditLog)]
        body["enabled_servers"] = servers.map(list)
        body["enabled_tools"] = tools.map(list)
        return body
    }
}

extension NewSessionTools {
    /// As the member `mcp` of a chat request that starts a session. Gateways without the routes of tools ignore it.
    public var wire: JSONObject {
        func list(_ names: [String]) -> JSON { .array(names.map(JSON.string)) }
        var body: JSONObject = [:]
        body["enabled_servers"] = servers.map(list)
        body["enabled_tools"] = tools.map(list)
        body["priority"] = priority.map(list)
        body["audit_log"] = auditLog.map(JSON.bool)
        return body
    }
}

extension AgentToolServer {
    init?(_ wire: WireObject) {
        guard let id = wire.text("id") ?? wire.text("name") else { return nil }
        self.init(
            id: id, name: wire.text("name") ?? id, status: wire.text("status"), problem: wire.text("problem"),
            isEnabled: wire.flag("enabled"), scope: wire.text("scope").flatMap(AgentToolScope.init(rawValue:)),
            version: wire.text("version"), tools: wire.count("tool_count"))
    }
}

extension AgentTool {
    init?(_ wire: WireObject) {
        guard let name = wire.text("name") ?? wire.text("id") else { return nil }
        self.init(
            name: name, summary: wire.text("description") ?? "",
            effect: wire.text("effect").flatMap(Effect.init(rawValue:)), input: wire["input_schema"] ?? [:])
    }
}

extension AgentApproval {
    init?(_ wire: WireObject) {
        guard let id = wire.text("id"), PathWord.escaped(id) != nil else { return nil }
        let call = ToolCall(
            id: wire.text("tool_id") ?? id, name: wire.text("name") ?? "a tool", input: wire["input"] ?? [:],
            isDone: true)
        self.init(
            id: id, session: wire.text("session_id").flatMap { PathWord.escaped($0) == nil ? nil : $0 }, call: call,
            source: wire.text("source"), effect: wire.text("effect").flatMap(Effect.init(rawValue:)),
            summary: wire.text("summary") ?? "", paths: wire.names("paths") ?? [], diff: wire.text("diff"),
            caution: wire.text("caution"), remembers: wire.text("remembers"),
            limit: wire.count("expires_in_ms").map { .milliseconds($0) })
    }

    /// The question in a frame of a gateway's stream; nil if it is another frame, or if it could not be answered.
    public init?(frame data: [UInt8]) {
        // A stream has frames of many kinds, and what is not JSON is not this one.
        guard let frame = try? JSON(parsing: data, reading: .stream).object else { return nil }
        guard frame["object"] == "approval_request" else { return nil }
        self.init(WireObject(frame))
    }
}

extension AgentApprovalAnswer {
    var wire: JSONObject {
        var body: JSONObject = ["allow": .bool(isAllowed)]
        if scope != .once { body["scope"] = .string(scope.rawValue) }
        body["reason"] = reason.map(JSON.string)
        return body
    }
}

extension UsageSum {
    init(_ wire: WireObject) {
        let usage = Usage(
            inputTokens: wire.count("input_tokens") ?? wire.count("prompt_tokens"),
            outputTokens: wire.count("output_tokens") ?? wire.count("completion_tokens"),
            cachedTokens: wire.count("cached_tokens"), cacheWriteTokens: wire.count("cache_write_tokens"),
            reasoningTokens: wire.count("reasoning_tokens"), cost: wire.cost("total_cost"))
        self.init(
            key: wire.text("key"), answers: wire.count("answers") ?? 0, usage: usage,
            unpriced: wire.count("unpriced") ?? 0)
    }
}

extension AuditEntry {
    init?(_ wire: WireObject) {
        guard let action = wire.text("action") else { return nil }
        self.init(
            project: wire.text("project_id"), session: wire.text("session_id"), actor: wire.text("actor") ?? "unknown",
            action: action, subject: wire.text("subject"), decision: wire.text("decision"),
            detail: wire["detail"] ?? .null)
        (number, time) = (wire.count("number"), wire.time("created_at"))
    }
}
