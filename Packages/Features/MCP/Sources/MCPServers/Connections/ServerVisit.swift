public import Capabilities
public import MCPKit

extension ServerSurroundings {
    /// Starts or reaches a server for as long as `body` works with it.
    ///
    /// - Parameters:
    ///   - tell: is told what the server got wrong, and what was declined.
    ///   - caller: answers the questions of the server.
    ///   - watch: is shown each message; nil to show none.
    public func whileConnected<Value: Sendable>(
        to server: ConfiguredServer, telling tell: @escaping @Sendable (String) -> Void, asking caller: Caller,
        watchedBy watch: (@Sendable (ServerTraffic) -> Void)? = nil,
        _ body: @escaping @Sendable (MCPClient) async throws -> Value
    ) async throws -> Value {
        let visitor = Visitor(server: server, caller: caller, tell: tell)
        let limits = limits.client(for: server.entry)
        @Sendable func visit(
            _ transport: any MCPTransport, _ isThere: @escaping @Sendable () -> Void = {}
        ) async throws -> Value {
            let carried = watch.map { TracedTransport(inner: transport, tell: $0) as any MCPTransport } ?? transport
            let client = MCPClient(of: server.name, over: carried, as: identity, handler: visitor, limits: limits)
            return try await client.whileRunning {
                isThere()
                return try await body(client)
            }
        }
        switch server.entry.way {
        case .program(let command, let arguments):
            return try await program(of: server, command, arguments).whileRunning(by: launcher) { try await visit($0) }
        case .address(let url):
            return try await reaching(server, at: url) { address, isThere in
                try await visit(address.transport(by: http(), signIn: signIn), isThere)
            }
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
