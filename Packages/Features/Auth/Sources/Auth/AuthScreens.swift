import JSON
import Registry
import Screens

/// The screens of Auth.
struct AuthScreens {
    private let services: AuthServices

    init(_ services: AuthServices) { self.services = services }

    func add(to registry: inout RegistryBuilder) {
        registry.addScreen(
            "auth.servers", "Servers", .tab("Servers"), listing: "auth.server.list", id: "name",
            links: [
                .action("auth.server.use", "Use", key: "u", ["name": .row("name")]),
                .action("auth.server.check", "Check", key: "c", ["name": .row("name")]),
                .action("auth.login", "Sign in", key: "l", ["server": .row("name")]),
                .action("auth.logout", "Sign out", key: "o", ["server": .row("name")]),
                .action("auth.server.remove", "Remove", key: "d", ["name": .row("name")]),
            ], offering: [.action("auth.server.add", "Add a server", key: "a")])
        registry.addScreen(
            "auth.accounts", "Sign-ins", .home, listing: "auth.status", id: "name",
            links: [
                .action("auth.login", "Sign in", key: "l", ["server": .row("name")]),
                .action("auth.logout", "Sign out", key: "o", ["server": .row("name")]),
                .screen("auth.tokens", "Access tokens", key: "t", ["server": .row("name")]),
            ], offering: [.action("auth.server.add", "Add a server", key: "a")])
        registry.add(tokens)
        registry.addScreen(
            "auth.secrets", "Secrets", .tab("Servers"), listing: "auth.secret.list", id: "name",
            links: [.action("auth.secret.remove", "Remove", key: "d", ["name": .row("name")])],
            offering: [.action("auth.secret.set", "Store a secret", key: "a")])
        registry.addScreen(
            "auth.certificates", "Certificates", .tab("Servers"), listing: "auth.trust.list", id: "server",
            links: [
                .action("auth.trust.verify", "Verify", key: "v", ["host": .row("server")]),
                .action("auth.trust.remove", "Remove", key: "d", ["host": .row("server")]),
            ], offering: [.action("auth.trust.add", "Trust a certificate", key: "a")])
    }

    /// The tokens at a server, at which they are revoked too.
    private var tokens: Screen {
        Screen("auth.tokens", "Access tokens", .detail, TokenActions.server) { [services] screen, server in
            var arguments: [String: Link.Argument] = ["id": .row("id")]
            if let server { arguments["server"] = .value(.string(server)) }
            let links: [Link] = [.action("auth.pat.revoke", "Revoke", key: "d", arguments)]
            repeat {
                let rows = try await TokenActions(services).rows(server, screen.context)
                try await screen.show(
                    Block(.table(Table(rows, id: "id", links: links, empty: TokenActions.noTokens)), id: "rows"))
            } while try await screen.changed()
        }
        .sending()
    }
}
