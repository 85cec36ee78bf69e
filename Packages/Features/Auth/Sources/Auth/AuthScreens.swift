import Registry
import Screens

/// The screens of Auth.
enum AuthScreens {
    static func add(to registry: inout RegistryBuilder) {
        registry.addScreen(
            "auth.servers", "Servers", .tab("Servers"), listing: "auth.server.list", id: "name",
            links: [
                .action("auth.server.use", "Use", key: "u", ["name": .row("name")]),
                .action("auth.server.check", "Check", key: "c", ["name": .row("name")]),
                .action("auth.login", "Sign in", key: "l", ["server": .row("name")]),
                .action("auth.logout", "Sign out", key: "o", ["server": .row("name")]),
                .action("auth.server.remove", "Remove", key: "d", ["name": .row("name")]),
            ])
        registry.addScreen(
            "auth.accounts", "Sign-ins", .home, listing: "auth.status", id: "name",
            links: [
                .action("auth.login", "Sign in", key: "l", ["server": .row("server")]),
                .action("auth.logout", "Sign out", key: "o", ["server": .row("server")]),
            ])
        registry.addScreen(
            "auth.tokens", "Access tokens", .detail, listing: "auth.pat.list", id: "id",
            links: [.action("auth.pat.revoke", "Revoke", key: "d", ["id": .row("id")])])
        registry.addScreen(
            "auth.secrets", "Secrets", .tab("Servers"), listing: "auth.secret.list", id: "name",
            links: [.action("auth.secret.remove", "Remove", key: "d", ["name": .row("name")])])
        registry.addScreen(
            "auth.certificates", "Certificates", .tab("Servers"), listing: "auth.trust.list", id: "server",
            links: [
                .action("auth.trust.verify", "Verify", key: "v", ["host": .row("server")]),
                .action("auth.trust.remove", "Remove", key: "d", ["host": .row("server")]),
            ])
    }
}
