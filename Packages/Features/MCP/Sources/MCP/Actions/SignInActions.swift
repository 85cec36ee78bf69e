import Capabilities
import MCPServers
import Registry

/// The actions that sign in to servers.
struct SignInActions {
    let services: MCPServices

    init(_ services: MCPServices) {
        self.services = services
    }

    var all: [Action] { [login, logout] }

    private var name: Parameter<String> {
        .argument("name", "Name of the server", completion: ServerCompletion.names(services))
    }

    private var login: Action {
        Action("mcp.login", "Sign in to an MCP server", .writes, name) { [services] context, name in
            let server = try await services.server(named: name, telling: context.notice)
            _ = try Self.address(of: server)
            try await services.agree(to: server, asking: context.interaction, telling: context.notice)
            return try await services.probe(server, context)
        }
        .byName()
        .sending()
        .details(
            "The server says where you sign in, and your browser opens there. The credential is kept in the vault, and is "
                + "sent to this server only.")
    }

    private var logout: Action {
        Action("mcp.logout", "Forget the credential of an MCP server", .writes, name) { [services] context, name in
            let server = try await services.server(named: name, telling: context.notice)
            let address = try Self.address(of: server)
            guard let signIn = context.registry.optional((any ResourceSignIn).self) else {
                throw ServerError(.noSignIn, "this build cannot sign in to servers, since it has no feature for that")
            }
            await services.pool.end(server)
            if try await !signIn.forget(ResourceAddress(address)) {
                context.notice("there was no credential for \(name)")
            }
            return Nothing()
        }
        .byName()
        .details("The server itself is not told; a credential that it issued may be valid until it expires.")
    }

    private static func address(of server: ConfiguredServer) throws(ServerError) -> String {
        if let profile = server.platform {
            throw ServerError(
                .noSignIn,
                "the MCP server \(server.name) is a tool of a platform, which you sign in to with 'martlet auth login \(PlainText.escape(profile))'"
            )
        }
        guard case .address(let url) = server.entry.way else {
            throw ServerError(
                .noSignIn,
                "the MCP server \(server.name) is a program of this machine, which needs no sign-in; it gets secrets by its variables"
            )
        }
        return url
    }
}
