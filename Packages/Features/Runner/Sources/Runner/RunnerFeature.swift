import Bundles
import Capabilities
import HTTPClient
import ProcessKit
public import Registry
import Runs
import SandboxKit
import Screens
public import Settings
import StorageKit

/// Runs bundles of actions unattended.
public struct RunnerFeature: Feature {
    // The feature declares no needs: they would start every store of data and secrets for each run. A bundle looks up
    // what it needs while it runs.
    public static let manifest = Manifest(
        id: "runner", summary: "Run bundles of actions unattended", version: "0.1.0",
        provides: [
            .shared((any DataStore).self), .shared((any CompanionFiles).self), .shared((any GrantHolders).self),
        ],
        namespaces: ["run", "runs", "file", "shell", "http"],
        groups: [
            "run": "Run a bundle of actions, now or on a schedule",
            "runs": "Show, cancel and delete runs",
            "file": "Read and write text files, for bundles",
            "shell": "Run programs in a sandbox, for bundles",
            "http": "Send requests to servers, for bundles",
        ],
        variables: ["MARTLET_INPUT_NAME": "The input NAME of a bundle that is run"])

    public init(_ settings: FeatureSettings) {}

    /// Loads libcurl early, because that takes longer than anything else before the request is sent.
    public static func prepare(for words: [String]) {
        if words.starts(with: ["http", "request"]) { HTTPClient.prepare() }
    }

    public func register(in registry: inout RegistryBuilder) {
        let services = RunnerServices(registry.surroundings, held: registry.shared("runs") { Holdings() })
        registry.closes {
            await services.client.close()
            await services.journal.close()
        }
        registry.provide(
            (any DataStore).self,
            DatabaseStore(id: "runner.runs", summary: "Runs of bundles", database: services.journal.database))
        registry.provide((any CompanionFiles).self, BundleCompanions())
        registry.provide((any GrantHolders).self, BundleHolders(services.journal))
        registry.uses(Library("libseccomp") { SandboxEngine.filterLibraryVersion })
        registry.uses(
            Library("libcurl") {
                HTTPClient.libraryVersion
            } installed: {
                try HTTPClient.installedLibraryVersion()
            })
        registry.add(ShellActions.check)
        let groups = [
            RunAction(services).all, RunsActions(services).all, InstallAction.all, StepActions.all, FileActions.all,
            ShellActions.all, HTTPActions(services).all,
        ]
        for action in groups.joined() { registry.add(action) }
        registry.addScreen(
            "runs.recent", "Runs", .home, listing: "runs.list", id: "id",
            links: [
                .action("runs.cancel", "Cancel", key: "c", ["run": .row("id")]),
                .screen("runs.log", "Output", key: "o", ["run": .row("id")]),
            ],
            detail: .screen("runs.run", "Run", ["run": .row("id")]),
            offering: [.action("run.start", "Run a bundle", key: "s")], every: .seconds(2))
        RunScreen(services).add(to: &registry)
        LogScreen(services).add(to: &registry)
    }
}
