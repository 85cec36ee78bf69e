import Registry
import Screens

/// The screens of runs.
struct RunnerScreens {
    private let services: RunnerServices

    init(_ services: RunnerServices) { self.services = services }

    func add(to registry: inout RegistryBuilder) {
        registry.addScreen(
            "runs.recent", "Runs", .home, listing: "runs.list", id: "id",
            links: [
                .action("runs.cancel", "Cancel", key: "c", ["run": .row("id")]),
                .screen("runs.log", "Output", key: "o", ["run": .row("id")]),
            ],
            detail: .screen("runs.run", "Run", ["run": .row("id")]), every: .seconds(2))
        RunScreen(services).add(to: &registry)
        LogScreen(services).add(to: &registry)
    }
}
