import Bundles
import Capabilities
import HTTPClient
import ProcessKit
public import Registry
import Runs
import SandboxKit
public import Settings
import StorageKit

/// Bundles without a person: the second surface over the same actions.
public struct RunnerFeature: Feature {
    // What it needs of the host and of others is looked up while a bundle runs: as a need of the feature it would start
    // everything that keeps data or secrets, for each run.
    public static let manifest = Manifest(
        id: "runner", summary: "Run bundles of actions unattended", version: "0.1.0",
        provides: [
            .shared((any DataStore).self), .shared((any CompanionFiles).self), .shared((any GrantHolders).self),
        ],
        namespaces: ["run", "runs", "file", "shell", "http"],
        groups: [
            "run": "Run a bundle of actions, or have it run by itself",
            "runs": "Look at runs that were, and go on with them",
            "file": "Read and write text files, for bundles",
            "shell": "Run programs in a sandbox, for bundles",
            "http": "Send requests to servers, for bundles",
        ])

    public init(_ settings: FeatureSettings) {}

    /// Loading libcurl takes longer than all else until the request goes out.
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
        registry.provide((any GrantHolders).self, BundleHolders())
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
    }
}
