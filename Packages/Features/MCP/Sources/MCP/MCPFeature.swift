import Capabilities
import HTTPClient
import MCPServers
public import Registry
public import Settings
import StorageKit

/// Tools of MCP servers: set up by the person or found in a project, for models and by hand.
public struct MCPFeature: Feature {
    public static let manifest = Manifest(
        id: "mcp", summary: "Tools of MCP servers, for models and by hand", version: "0.1.0",
        provides: [
            .shared((any ToolCatalog).self), .shared((any DataStore).self), .single((any AgentToolDefaults).self),
        ],
        needs: [
            .optional((any SecretStore).self), .optional((any TrustStore).self), .optional((any ResourceSignIn).self),
            .optional((any Authenticator).self),
            .one((any SettingsWriter).self), .one((any FolderRules).self), .all((any ModelProvider).self),
            .all((any ConversationStore).self), .optional((any AuditLog).self),
        ],
        settings: MCPSettings.declarations, verbatim: ["mcp.call": 2])

    private let settings: FeatureSettings

    public init(_ settings: FeatureSettings) {
        self.settings = settings
    }

    public func register(in registry: inout RegistryBuilder) {
        let services = MCPServices(
            settings, registry.surroundings, whole: registry.whole, pool: registry.shared("servers") { ServerPool() })
        registry.closes(services.close)
        registry.provide((any ToolCatalog).self, ServerCatalog(services))
        registry.provide((any AgentToolDefaults).self, GatewayDefaults(services))
        registry.provide(
            (any DataStore).self,
            DatabaseStore(
                id: "mcp.records", summary: "Tools of MCP servers as they were approved, and choices among them",
                database: services.records.database))
        registry.uses(
            Library("libcurl") {
                HTTPClient.libraryVersion
            } installed: {
                try HTTPClient.installedLibraryVersion()
            })
        registry.uses(Library("libsqlite3") { Database.libraryVersion })
        let groups = [
            ListActions(services).all, SetupActions(services).all, ImportAction(services).all,
            SignInActions(services).all, InstallAction(services).all, ReplayAction().all,
            UseAction(services).all, CallAction(services).all, AskActions(services).all,
            GatewayActions(services).all,
        ]
        for action in groups.joined() { registry.add(action) }
        MCPScreens.add(to: &registry)
    }
}
