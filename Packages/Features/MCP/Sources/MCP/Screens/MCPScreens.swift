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
            ], every: .seconds(5))
        registry.addScreen(
            "mcp.server", "Tools of a server", .detail, listing: "mcp.show", id: "name",
            links: [
                .action("mcp.call", "Call", key: "c", ["server": .row("server"), "tool": .row("name")])
            ])
        registry.addScreen("mcp.choices", "Tools in use", .tab("Servers"), listing: "mcp.used", id: "name")
    }
}
