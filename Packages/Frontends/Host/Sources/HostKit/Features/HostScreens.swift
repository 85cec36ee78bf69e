import Registry
import Screens

/// The screens of the host.
enum HostScreens {
    static func add(to registry: inout RegistryBuilder) {
        registry.addScreen(
            "features.states", "Features", .tab("Settings"), listing: "features", id: "id", every: .seconds(2))
        registry.addScreen("doctor.findings", "Health", .tab("Settings"), listing: "doctor", id: "id")
        registry.addScreen(
            "config.settings", "Settings", .tab("Settings"), listing: "config.show", id: "key",
            links: [
                .action("config.set", "Change", key: "e", ["key": .row("key")]),
                .action("config.unset", "Use the default", key: "d", ["key": .row("key")]),
            ])
        registry.addScreen("access.rules", "Access", .tab("Settings"), listing: "access.show", id: "action")
        registry.addScreen("data.stores", "Stored data", .tab("Settings"), listing: "data.list", id: "id")
    }
}
