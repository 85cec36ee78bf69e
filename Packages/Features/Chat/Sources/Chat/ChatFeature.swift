import Capabilities
import ChatHistory
import ChatProviders
import HTTPClient
import ProcessKit
public import Registry
public import Settings
import StorageKit
import TerminalKit
import ToolKit

/// Conversations with models: every provider, streamed, with tools and a history.
public struct ChatFeature: Feature {
    public static let manifest = Manifest(
        id: "chat", summary: "Talk to models, with tools and a history", version: "0.1.0",
        provides: [
            .shared((any DataStore).self), .shared((any ModelProvider).self), .shared((any ConversationStore).self),
            .shared((any ServerList).self), .shared((any RuleKeeper).self),
        ],
        needs: [
            .one((any SecretStore).self), .optional((any Authenticator).self), .optional((any TrustStore).self),
            .all((any ToolSource).self), .all((any ToolCatalog).self), .all((any ModelProvider).self),
            .one((any FolderRules).self), .all((any RuleKeeper).self), .optional((any AuditLog).self),
            .optional((any AgentToolDefaults).self),
        ],
        settings: ChatSettings.declarations,
        variables: ["*_API_KEY": "The key of a model vendor, such as OPENAI_API_KEY"])

    private let settings: FeatureSettings

    public init(_ settings: FeatureSettings) {
        self.settings = settings
    }

    /// These commands send a request. Loading libcurl takes longer than everything before it, so it starts early.
    public static func prepare(for words: [String]) {
        if words.first == "ask" || words.starts(with: ["chat", "send"]) { HTTPClient.prepare() }
    }

    public func register(in registry: inout RegistryBuilder) {
        let services = ChatServices(
            settings: settings, surroundings: registry.surroundings, whole: registry.whole,
            drafts: registry.shared("drafts") { Holdings() }, live: registry.shared("live") { LiveAnswers() })
        // Before the program ends, messages are stored and servers are told to stop.
        registry.closes(services.close)
        registry.provide(
            (any DataStore).self,
            DatabaseStore(
                id: "chat.history", summary: "Conversations with models", database: services.history.database,
                emptyBin: services.emptyBin))
        registry.provide((any ConversationStore).self, Conversations(services.history))
        registry.provide((any RuleKeeper).self, ChatRules(services))
        registry.provide(
            (any ServerList).self,
            ProviderServers(
                services.servers, environment: registry.surroundings.environment,
                agreed: Set(services.settings.localServers)))
        for offer in ProviderDirectory.offers(services.servers, environment: registry.surroundings.environment) {
            registry.provide((any ModelProvider).self, OfferedProvider(offer, services))
        }
        registry.uses(
            Library("libcurl") {
                HTTPClient.libraryVersion
            } installed: {
                try HTTPClient.installedLibraryVersion()
            })
        registry.uses(Library("libsqlite3") { Database.libraryVersion })
        // Answers are Markdown, for which terminals open this library. Other features print none.
        registry.uses(
            Library("libcmark-gfm") {
                Markdown.libraryVersion
            } installed: {
                try Markdown.installedLibraryVersion()
            })
        registry.uses(Library("libpcre2-8") { WorkspaceTools.patternLibraryVersion })
        registry.completes("model", ChatCompletion.models)
        let actions = [
            SendAction(services).all, RunAction(services).all, PictureAction(services).all,
            HistoryActions(services).all,
            ModelActions(services).all,
            UsageActions(services).all, ApprovalActions(services).all, EventActions.all,
        ]
        for action in actions.joined() { registry.add(action) }
        ChatScreens(services).add(to: &registry)
    }
}
