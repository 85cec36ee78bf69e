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
import TraceKit

/// The built-in agent server. Other programs use it over HTTP, and Chat uses it when no other provider is available.
public struct GatewayFeature: Feature {
    public static let manifest = Manifest(
        id: "gateway", summary: "Serve models, tools and sessions to other programs", version: "0.1.0",
        provides: [
            .shared((any DataStore).self), .shared((any ModelProvider).self), .shared((any ServerList).self),
            .shared((any GrantHolders).self), .shared((any RuleKeeper).self), .shared((any AgentServer).self),
            .shared((any ProjectCatalog).self),
        ],
        needs: [
            .one((any SecretStore).self), .optional((any TrustStore).self), .all((any ModelProvider).self),
            .optional((any BuiltInModel).self), .all((any ToolSource).self), .all((any ToolCatalog).self),
            .one((any FolderRules).self), .optional((any AuditLog).self), .optional((any MetricPublisher).self),
        ],
        settings: GatewaySettings.declarations,
        groups: [
            "gateway.project": "Folders in which the gateway's models may work",
            "gateway.session": "Conversations that the gateway stores",
            "gateway.token": "Tokens of the programs that use the gateway",
        ],
        variables: [GatewayToken.variable: "The owner's token, instead of the stored one"])

    private let settings: GatewaySettings

    public init(_ settings: FeatureSettings) {
        self.settings = GatewaySettings(reading: settings)
    }

    public func register(in registry: inout RegistryBuilder) {
        let services = GatewayServices(
            settings: settings, surroundings: registry.surroundings, whole: registry.whole,
            turns: registry.shared("turns") { Holdings() },
            serving: registry.shared("serving") { ServingGateway() })
        // Turns must be ended and stored before the program exits.
        registry.closes(services.close)
        registry.provide((any ModelProvider).self, services.embedded)
        registry.provide((any ServerList).self, OwnServer(settings: settings))
        registry.provide((any GrantHolders).self, TokenHolders(services))
        let agentServer = services.agentServer
        registry.provide((any AgentServer).self, agentServer)
        registry.provide((any ProjectCatalog).self, agentServer)
        registry.completes("model", .like("model", of: "chat.send"))
        registry.provide((any RuleKeeper).self, GatewayRules(services))
        registry.provide(
            (any DataStore).self,
            DatabaseStore(
                id: "gateway.database", summary: "Projects, sessions and usage of the gateway",
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
        GatewayScreens(services).add(to: &registry)
    }
}

/// Lists this program's own gateway, at the address in the settings.
private struct OwnServer: ServerList {
    let settings: GatewaySettings

    var servers: [String] {
        // A gateway that listens on all addresses is reached on the loopback one.
        let here = ["0.0.0.0": "127.0.0.1", "::": "::1"]
        let listened = here[settings.address] ?? settings.address
        let host = listened.contains(":") ? "[\(listened)]" : listened
        return [ServerPattern.of("http://\(host):\(settings.port)")].compactMap(\.self)
    }
}

/// The checks of the gateway for `doctor`.
enum GatewayChecks {
    static func sandbox(_ services: GatewayServices) -> HealthCheck {
        HealthCheck("gateway.sandbox", "sandbox for models' commands") { _ in
            let options = services.settings.turns(in: services.surroundings).shell
            guard options.isSandboxed else {
                return .warning(
                    "off: models' commands may do anything that you can",
                    mend: "run 'martlet config unset gateway.sandbox'")
            }
            do {
                let support = try await options.sandboxSupport()
                guard support.kind == .bubblewrap else {
                    return .warning("models' commands run under \(support.words)", mend: SandboxError.mend)
                }
                return .ok(
                    "\(support.words): models' commands see only the project's folder and the system's programs")
            } catch let problem as SandboxError {
                return .warning(problem.message, mend: SandboxError.mend)
            } catch {
                return .warning(AnyFailure(error).message, mend: "try again")
            }
        }
    }
}
