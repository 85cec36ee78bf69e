public import JSON

/// What the person has chosen for new sessions of an agent gateway: for all of them, or for those of one project. What it
/// does not name is used as the gateway does by default.
public struct GatewayDefault: Sendable, Hashable {
    /// The tool servers and tools, and the priority.
    public private(set) var choice = ServerChoice()
    /// Whether every call goes into the gateway's audit log; nil if that is left to the gateway.
    public var audit: Bool?

    /// Nothing is chosen.
    public init() {}

    init(stored json: JSON) {
        choice = ServerChoice(stored: json)
        audit = json["audit"]?.bool
    }

    /// As it is stored.
    public var json: JSON {
        guard var object = choice.json.object else { return [:] }
        object["audit"] = audit.map(JSON.bool)
        return .object(object)
    }

    /// Whether nothing is chosen.
    public var isEmpty: Bool { self == GatewayDefault() }

    /// Switches a tool server on or off. Without it none of its tools is used, whichever were chosen before.
    public mutating func set(server: String, isOn: Bool) {
        choice.servers[server] = isOn
        if !isOn { dropChosenTools(of: server) }
    }

    /// Switches a tool on or off. One of a server that is off is used alone.
    public mutating func set(tool: String, of server: String, isOn: Bool) {
        choice.tools["\(server)/\(tool)"] = isOn
    }

    /// Sets the servers whose tools come first.
    public mutating func set(priority: [String]) { choice.priority = priority }

    /// This choice, and where it says nothing that of all sessions.
    public func over(_ wider: GatewayDefault) -> GatewayDefault {
        var wider = wider
        for (server, isOn) in choice.servers where !isOn { wider.dropChosenTools(of: server) }
        var merged = self
        merged.choice = choice.over(wider.choice)
        merged.audit = audit ?? wider.audit
        return merged
    }

    private mutating func dropChosenTools(of server: String) {
        choice.tools = choice.tools.filter { !$0.value || !$0.key.hasPrefix("\(server)/") }
    }
}
