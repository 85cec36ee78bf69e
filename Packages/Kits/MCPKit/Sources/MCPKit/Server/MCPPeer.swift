import Capabilities
public import HTTPServer
import JSON

/// A client of a server.
public struct MCPPeer: Sendable, Hashable {
    /// What it says it is. Nothing of it is checked.
    public let identity: MCPIdentity
    /// The revision in which it asks, which tells its era.
    public let version: MCPVersion
    /// What it can be asked for.
    public let capabilities: MCPClientCapabilities
    /// Who it is by its credential; nil where there are none.
    public let principal: Principal?

    /// A client that says what it is.
    public init(
        _ identity: MCPIdentity, version: MCPVersion, capabilities: MCPClientCapabilities = MCPClientCapabilities(),
        principal: Principal? = nil
    ) {
        self.identity = identity
        self.version = version
        self.capabilities = capabilities
        self.principal = principal
    }
}

// MARK: What clients send

extension MCPClientCapabilities {
    /// Reads what a client offers.
    init(_ json: JSON?, _ version: MCPVersion) {
        self.init()
        roots = json?["roots"]?.unlessNull != nil
        sampling = json?["sampling"]?.unlessNull != nil
        samplingTools = json?["sampling"]?["tools"]?.unlessNull != nil
        if let elicitation = json?["elicitation"]?.unlessNull {
            addresses = version >= .november2025 && elicitation["url"]?.unlessNull != nil
            // Without a mode it means forms, as it did before there were modes.
            forms = elicitation["form"]?.unlessNull != nil || !addresses
        }
        tasks = version.isModern && json?["extensions"]?[MCPServerCapabilities.tasksExtension]?.unlessNull != nil
    }
}

extension MCPRoot {
    init(_ json: JSON) throws(MCPMalformed) {
        guard let address = json["uri"]?.string else { throw MCPMalformed("a folder has no address") }
        self.address = address
        name = json["name"]?.string
    }
}

extension MCPSampled {
    init(_ json: JSON) throws(MCPMalformed) {
        let message = try MCPMessage(json)
        self.init(
            message.parts, model: json["model"]?.string ?? "", stop: json["stopReason"]?.string ?? "endTurn")
    }
}

extension MCPSampling {
    /// A request for an answer of a model of the client.
    ///
    /// - Parameters:
    ///   - wishes: names, or parts of names, of models, the best first.
    ///   - mostTokens: the longest answer.
    public init(_ messages: [MCPMessage], system: String? = nil, mostTokens: Int, wishes: [String] = []) {
        self.messages = messages
        self.system = system
        self.mostTokens = mostTokens
        self.wishes = wishes
        var members: JSONObject = [
            "messages": .array(messages.map { $0.json(.newestLegacy) }), "maxTokens": .int(mostTokens),
        ]
        members["systemPrompt"] = system.map { .string($0) }
        if !wishes.isEmpty {
            members["modelPreferences"] = ["hints": .array(wishes.map { ["name": .string($0)] })]
        }
        json = .object(members)
    }
}

extension MCPLogEntry.Level {
    /// How serious it is among all levels.
    var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
