/// What a client does for its server, and what it is told by it.
public protocol MCPClientHandler: Sendable {
    /// What the server may ask for.
    var capabilities: MCPClientCapabilities { get }
    /// The folders that the client works in.
    func roots() async throws -> [MCPRoot]
    /// Asks a model.
    func sample(_ request: MCPSampling) async throws -> MCPSampled
    /// Asks the person.
    func elicit(_ question: MCPElicitation) async throws -> MCPAnswer
    /// Something has changed at the server. The next message waits meanwhile, as for the following.
    func changed(_ change: MCPChange)
    /// The server has written a log message.
    func log(_ entry: MCPLogEntry)
    /// The server broke the protocol, in words that name no server.
    func tell(_ problem: String)
}

extension MCPClientHandler {
    /// By default nothing.
    public var capabilities: MCPClientCapabilities { MCPClientCapabilities() }
    /// By default there are none.
    public func roots() async throws -> [MCPRoot] { [] }
    /// By default there is no model.
    public func sample(_ request: MCPSampling) async throws -> MCPSampled {
        throw MCPError(.unsupported, "this client asks no models for servers")
    }
    /// By default nobody is asked.
    public func elicit(_ question: MCPElicitation) async throws -> MCPAnswer { .decline }
    /// By default nothing happens.
    public func changed(_ change: MCPChange) {}
    /// By default nobody reads it.
    public func log(_ entry: MCPLogEntry) {}
    /// By default nobody is told.
    public func tell(_ problem: String) {}
}
