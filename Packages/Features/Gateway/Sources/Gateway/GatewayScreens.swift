import Registry
import Screens

/// The screens of the gateway.
struct GatewayScreens {
    private let services: GatewayServices

    init(_ services: GatewayServices) { self.services = services }

    func add(to registry: inout RegistryBuilder) {
        OverviewScreen(services).add(to: &registry)
        registry.addScreen(
            "gateway.projects", "Projects", .tab("Projects"), listing: "gateway.project.list", id: "id",
            links: [
                .screen("gateway.sessions", "Sessions", key: "s", ["project": .row("id")]),
                .action("gateway.project.remove", "Remove", key: "d", ["project": .row("id")]),
            ], detail: .screen("gateway.sessions", "Sessions", ["project": .row("id")]),
            offering: [.action("gateway.project.add", "Add a project", key: "a")])
        let whole = registry.whole
        registry.addScreen(
            "gateway.sessions", "Gateway sessions", .tab("Sessions"), listing: "gateway.session.list", id: "id",
            links: whole.registry?.present([.screen("trace.traces", "Traces", key: "w", ["about": .row("id")])]) ?? [],
            every: .seconds(2))
        registry.addScreen(
            "gateway.tokens", "Gateway tokens", .tab("Gateway"), listing: "gateway.token.list", id: "name",
            links: [.action("gateway.token.revoke", "Revoke", key: "d", ["name": .row("name")])],
            offering: [.action("gateway.token.create", "Create a token", key: "a")])
        registry.addScreen(
            "gateway.costs", "Gateway usage", .tab("Gateway"), listing: "gateway.usage", id: "key", every: .seconds(10))
        registry.addScreen(
            "gateway.paths", "Gateway routes", .detail, listing: "gateway.routes", id: "method", "path")
    }
}
