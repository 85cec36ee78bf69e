import Capabilities
import Cryptography
import GatewayStore
import GatewayTurns
import HTTPClient
import ProcessKit
public import Registry
import SandboxKit
public import Settings
import StorageKit
import ToolKit

/// An agent server in the box: other programs use it over HTTP, and Chat asks it where nobody else can be asked.
public struct GatewayFeature: Feature {
    public static let manifest = Manifest(
        id: "gateway", summary: "Serve models, tools and sessions to other programs", version: "0.1.0",
        provides: [
            .shared((any DataStore).self), .shared((any ModelProvider).self), .shared((any ServerList).self),
            .shared((any GrantHolders).self), .shared((any RuleKeeper).self),
        ],
        needs: [
            .one((any SecretStore).self), .optional((any TrustStore).self), .all((any ModelProvider).self),
            .all((any ToolSource).self), .one((any FolderRules).self),
        ],
        settings: GatewaySettings.declarations,
        groups: [
            "gateway.project": "Folders in which a gateway's models may work",
            "gateway.session": "Conversations that a gateway keeps",
            "gateway.token": "What programs have to show that use the gateway",
        ],
        variables: [GatewayToken.variable: "The owner's token, instead of the one that is kept"])

    private let settings: FeatureSettings

    public init(_ settings: FeatureSettings) {
        self.settings = settings
    }

    public func register(in registry: inout RegistryBuilder) {
        let services = GatewayServices(
            settings: settings, surroundings: registry.surroundings, whole: registry.whole,
            turns: registry.shared("turns") { Holdings() })
        // Turns are ended and stored before the program ends.
        registry.closes(services.close)
        registry.provide((any ModelProvider).self, services.embedded)
        registry.provide((any ServerList).self, OwnServer(settings: settings))
        registry.provide((any GrantHolders).self, TokenHolders(services))
        registry.provide((any RuleKeeper).self, GatewayRules(services))
        registry.provide(
            (any DataStore).self,
            DatabaseStore(
                id: "gateway.database", summary: "Projects, sessions, usage and audit of the gateway",
                database: services.store.database, user: { try Instance(services.surroundings).user() },
                emptyBin: { try await services.store.blankAudit() }))
        registry.uses(
            Library("libcurl") {
                HTTPClient.libraryVersion
            } installed: {
                try HTTPClient.installedLibraryVersion()
            })
        registry.uses(Library("libssl") { Digest.libraryVersion })
        registry.uses(Library("libsqlite3") { Database.libraryVersion })
        registry.uses(Library("libpcre2-8") { WorkspaceTools.patternLibraryVersion })
        registry.uses(Library("libseccomp") { SandboxEngine.filterLibraryVersion })
        registry.add(GatewayChecks.sandbox(services))
        let groups = [
            ServeAction(services).all, InstanceActions(services).all, TokenActions(services).all,
            DescribingActions(services).all, ProjectActions(services).all, SessionActions(services).all,
        ]
        for action in groups.joined() { registry.add(action) }
    }
}

/// Our own gateway, where the settings say that it listens.
private struct OwnServer: ServerList {
    let settings: FeatureSettings

    var servers: [String] {
        // One that listens everywhere is spoken to here.
        let here = ["0.0.0.0": "127.0.0.1", "::": "::1"]
        let address = settings[GatewaySettings.address]
        let listened = here[address] ?? address
        let host = listened.contains(":") ? "[\(listened)]" : listened
        return [ServerPattern.of("http://\(host):\(settings[GatewaySettings.port])")].compactMap(\.self)
    }
}

/// What `doctor` asks about the gateway.
enum GatewayChecks {
    static func sandbox(_ services: GatewayServices) -> HealthCheck {
        HealthCheck("gateway.sandbox", "the sandbox for commands of models") { _ in
            let options = GatewaySettings.turns(services.settings, services.surroundings).shell
            guard options.isSandboxed else {
                return .warning(
                    "off: commands of models may do whatever you can",
                    mend: "run 'martlet config unset gateway.sandbox'")
            }
            do {
                let support = try await options.sandboxSupport()
                guard support.kind == .bubblewrap else {
                    return .warning("commands of models run under \(support.words)", mend: SandboxError.mend)
                }
                return .ok(
                    "\(support.words): commands of models see the project's folder and the system's programs only")
            } catch let problem as SandboxError {
                return .warning(problem.message, mend: SandboxError.mend)
            } catch {
                return .warning(AnyFailure(error).message, mend: "try again")
            }
        }
    }
}
