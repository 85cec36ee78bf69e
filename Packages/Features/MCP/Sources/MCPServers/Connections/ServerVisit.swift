public import Capabilities
public import MCPKit

extension ServerSurroundings {
    /// Starts or reaches a server for as long as `body` works with it.
    ///
    /// - Parameters:
    ///   - tell: is told what the server got wrong, and what was declined.
    ///   - caller: answers the questions of the server.
    public func whileConnected<Value: Sendable>(
        to server: ConfiguredServer, telling tell: @escaping @Sendable (String) -> Void, asking caller: Caller,
        _ body: @escaping @Sendable (MCPClient) async throws -> Value
    ) async throws -> Value {
        let visitor = Visitor(server: server, caller: caller, tell: tell)
        let limits = limits.client(for: server.entry)
        switch server.entry.way {
        case .program(let command, let arguments):
            let program = try await program(of: server, command, arguments)
            return try await program.whileRunning(by: launcher) { [identity] transport in
                let client = MCPClient(of: server.name, over: transport, as: identity, handler: visitor, limits: limits)
                return try await client.whileRunning { try await body(client) }
            }
        case .address(let url):
            let client = try await address(of: server, url).client(
                of: server.name, by: http(), as: identity, handler: visitor, limits: limits, signIn: signIn)
            return try await client.whileRunning { try await body(client) }
        }
    }
}

/// Does for a server what a short visit needs.
private struct Visitor: MCPClientHandler {
    let server: ConfiguredServer
    let caller: Caller
    let tell: @Sendable (String) -> Void

    var capabilities: MCPClientCapabilities {
        var offered = MCPClientCapabilities()
        (offered.roots, offered.forms, offered.addresses) = (true, true, true)
        return offered
    }

    func roots() async throws -> [MCPRoot] { [MCPRoot(AbsolutePath(server.folder))] }

    func elicit(_ question: MCPElicitation) async throws -> MCPAnswer {
        try await ServerForm(question, of: server.name).answer(from: caller.interaction, telling: tell)
    }

    func tell(_ problem: String) { tell("the MCP server \(PlainText.escape(server.name)): \(problem)") }
}
