import Registry
import Screens

/// The screens of the feature.
enum MCPScreens {
    static func add(to registry: inout RegistryBuilder) {
        registry.addScreen(
            "mcp.servers", "MCP servers", .tab("Servers"), listing: "mcp.list", id: "name",
            links: [
                .action("mcp.test", "Connect", key: "t", ["name": .row("name")]),
                .action("mcp.enable", "Switch on", key: "e", ["name": .row("name")]),
                .action("mcp.disable", "Switch off", key: "d", ["name": .row("name")]),
                .action("mcp.logs", "Log", key: "l", ["name": .row("name")]),
                .action("mcp.login", "Sign in", key: "i", ["name": .row("name")]),
                .action("mcp.remove", "Remove", key: "x", ["name": .row("name")]),
            ], detail: .screen("mcp.server", "Tools", ["name": .row("name")]),
            offering: [
                .action("mcp.add", "Add a server", key: "a"), .action("mcp.import", "Take over servers", key: "m"),
                .screen("mcp.gateway.servers", "Those of a gateway", key: "o"),
            ], every: .seconds(5))
        registry.addScreen(
            "mcp.server", "Tools of a server", .detail, listing: "mcp.show", id: "name",
            links: [
                .action("mcp.call", "Call", key: "c", ["server": .row("server"), "tool": .row("name")])
            ])
        registry.addScreen("mcp.choices", "Tools in use", .tab("Servers"), listing: "mcp.used", id: "name")
        // They send, so that they are not performed again and again as the list above.
        registry.addScreen(
            "mcp.gateway.servers", "Tool servers of a gateway", .detail, listing: "mcp.gateway.list", id: "id",
            links: choosing,
            detail: .screen(
                "mcp.gateway.server", "Tools",
                place.merging(["server": .row("id"), "project": .row("project")]) { $1 })
        )
        registry.addScreen(
            "mcp.gateway.server", "Tools of a gateway", .detail, listing: "mcp.gateway.tools", id: "name",
            links: choosing)
    }

    /// The gateway and the session of a row, if it has one.
    private static let place: [String: Link.Argument] = ["gateway": .row("gateway"), "session": .row("session")]

    /// In the session of a row, or else in new ones.
    private static func choice(_ argument: String) -> [String: Link.Argument] {
        place.merging(["project": .row("project"), "default": .row("default"), argument: .row("word")]) { $1 }
    }

    private static let choosing: [Link] = [
        .action("mcp.gateway.use", "Use", key: "e", choice("on")),
        .action("mcp.gateway.use", "Leave out", key: "d", choice("off")),
    ]
}
