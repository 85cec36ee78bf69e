import ProcessKit

@testable import AuthSignIn

/// An MCP server with its own sign-in server, which grants everything at once: FastMCP and the newer SDK, which
/// `make setup` installs.
enum ProtectedServer {
    private static let parts = #filePath.split(separator: "/")
    private static let python = "/" + parts.dropLast(7).joined(separator: "/") + "/.build/mcp-modern/bin/python"

    private static let program = """
        import socket, uvicorn
        from fastmcp import FastMCP
        from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
        from mcp.server.auth.settings import ClientRegistrationOptions
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        server = FastMCP("protected", auth=InMemoryOAuthProvider(
            base_url=f"http://127.0.0.1:{port}", required_scopes=["use"],
            client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["use", "more"])))
        print(port, flush=True)
        config = uvicorn.Config(server.http_app(), log_level="warning", lifespan="on")
        uvicorn.Server(config).run(sockets=[listener])
        """

    /// Runs the server while `body` does, which gets its address.
    static func run<Value: Sendable>(_ body: @Sendable (_ address: String) async throws -> Value) async throws -> Value
    {
        var command = Command(python, ["-c", program], environment: ["PATH": "/usr/bin:/bin"])
        command.errors = .tail(limit: 4096)
        command.endsWithParent = true
        return try await Launcher.standalone.withChild(command, grace: .milliseconds(200)) { child in
            guard let line = try await child.output.nextLine() else {
                throw SignInError(.unreachable, String(decoding: child.errorTail, as: UTF8.self))
            }
            return try await body("http://127.0.0.1:\(String(decoding: line, as: UTF8.self))/mcp")
        }
    }
}
