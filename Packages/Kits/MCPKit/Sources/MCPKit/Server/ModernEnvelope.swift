import HTTPServer
import JSON
import RPCKit

/// What each request of the modern era says about its client.
struct ModernEnvelope {
    /// The names of its members.
    enum Key {
        static let prefix = "io.modelcontextprotocol/"
        static let version = prefix + "protocolVersion"
        static let capabilities = prefix + "clientCapabilities"
        static let client = prefix + "clientInfo"
        static let server = prefix + "serverInfo"
        static let logLevel = prefix + "logLevel"
        static let subscription = prefix + "subscriptionId"
    }

    /// The revision as it is written.
    let version: String
    /// The least serious log messages that the client wants; nil for none.
    let level: MCPLogEntry.Level?
    private let meta: JSON

    /// Whether a request is one of the modern era: only there is the handshake unknown, and only there does a request name
    /// its revision.
    static func isModern(_ request: RPCRequest) -> Bool {
        switch request.method {
        case "initialize": false
        case "server/discover", "subscriptions/listen": true
        default: request.params?["_meta"]?[Key.version] != nil
        }
    }

    init(_ params: JSON?) throws(RPCError) {
        let meta = params?["_meta"] ?? [:]
        func refusal(_ reason: String) -> RPCError { RPCError(RPCError.invalidParams, reason) }
        for key in [Key.version, Key.capabilities] where meta[key] == nil {
            throw refusal("params._meta has no \(key), which every request needs")
        }
        guard let version = meta[Key.version]?.string else { throw refusal("\(Key.version) is not a string") }
        guard meta[Key.capabilities]?.object != nil else { throw refusal("\(Key.capabilities) is not an object") }
        level = meta[Key.logLevel]?.string.flatMap(MCPLogEntry.Level.init)
        if let given = meta[Key.logLevel]?.unlessNull, level == nil {
            throw refusal("\(Key.logLevel) is \(given.text().prefix(100)), which is no level")
        }
        self.version = version
        self.meta = meta
    }

    /// The client, unless its revision is not spoken here.
    func peer(_ principal: Principal?) throws(RPCError) -> MCPPeer {
        guard let version = MCPVersion(rawValue: version), version.isModern else {
            throw Self.unsupported(self.version)
        }
        return MCPPeer(
            MCPIdentity(meta[Key.client]), version: version,
            capabilities: MCPClientCapabilities(meta[Key.capabilities], version), principal: principal)
    }

    static func unsupported(_ version: String) -> RPCError {
        let spoken = MCPVersion.allCases.reversed().map { JSON.string($0.rawValue) }
        return RPCError(
            MCPError.Code.unsupportedVersion, "this revision of the protocol is not supported",
            data: ["supported": .array(spoken), "requested": .string(version)])
    }
}
