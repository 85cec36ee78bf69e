import Capabilities
import ChatHistory
import ChatProviders
import FileKit
import HTTPClient
import OpenAIDialect
import ProcessKit
import Registry
import SandboxKit
import Settings
import StorageKit
import Synchronization
import ToolKit
import TurnLoop

/// The services that the parts of Chat share. Creating them opens nothing.
final class ChatServices: Sendable {
    let settings: ChatSettings
    /// The servers of the profiles.
    let servers: [ChatServer]
    let surroundings: Surroundings
    let history: History
    /// Removes secrets from what is stored; nil if they are stored.
    let storedWithout: Redactor?
    /// The turns that are running, also with other settings.
    let live: LiveAnswers
    /// The profile in use.
    private let profile: String?
    private let opened = Mutex<Opened?>(nil)

    /// The servers to look for on this machine. Tests replace them, so that they do not find real servers.
    @TaskLocal static var localServers = LocalServer.usual

    /// The registry of this composition.
    private let whole: WholeRegistry

    /// The registry of this composition; nil once it has ended.
    var registry: Registry? { whole.registry }

    private struct Opened {
        let client: HTTPClient
        let directory: ProviderDirectory
    }

    init(
        settings: FeatureSettings, surroundings: Surroundings, whole: WholeRegistry, drafts: Holdings,
        live: LiveAnswers
    ) {
        self.settings = ChatSettings(reading: settings)
        servers = settings.servers.map(ChatServer.init)
        profile = settings.profile
        self.surroundings = surroundings
        self.whole = whole
        self.live = live
        storedWithout = self.settings.keepsSecrets ? nil : surroundings.redactor
        history = History(
            "\(surroundings.locations.data)/chat.db", without: storedWithout, drafts: drafts,
            clock: surroundings.clock, now: surroundings.now
        ) {
            $0.tell(ActionContext.current?.warn)
        }
    }

    /// The providers. They are created on first use, with the registry of this composition. The caller may belong to
    /// another composition.
    func directory() throws(ChatError) -> ProviderDirectory {
        guard let registry = whole.registry else {
            throw ChatError(.noProvider, "the program has ended", remedy: "start it again")
        }
        let sinks = registry.all((any SpanSink).self)
        return directory(registry, Tracer(sinks: sinks, now: surroundings.now))
    }

    /// Asks the providers to remove the sessions that they store here, unless a remaining conversation uses them.
    ///
    /// - Parameter id: the conversation; nil for all deleted ones.
    /// - Returns: the names of the providers that still have copies elsewhere.
    func forgetSessions(of id: ConversationID?, _ registry: Registry) async throws -> [String] {
        let providers = registry.all((any ModelProvider).self)
        var elsewhere: [String] = []
        for (provider, sessions) in try await history.sessions(of: id).sorted(by: { $0.key < $1.key }) {
            let found = providers.first { $0.id == provider }
            if try await found?.forget(sessions: sessions) == true { continue }
            elsewhere.append(PlainText.escape(found?.name ?? provider))
        }
        return elsewhere
    }

    /// Permanently removes the deleted conversations, with their sessions that are stored here.
    func emptyBin() async throws -> Int {
        if let registry = whole.registry {
            let elsewhere = try await forgetSessions(of: nil, registry)
            if !elsewhere.isEmpty {
                ActionContext.current?.warn(
                    "copies of deleted conversations remain at \(elsewhere.joined(separator: " and "))")
            }
        }
        let removed = try await history.purge(deletedBefore: Timestamp(microseconds: .max))
        try await eraseGoneFromAudit()
        return removed
    }

    /// How the calls of a conversation are recorded; nil if there is no audit log. Of a conversation that is not saved,
    /// the input of calls is not recorded.
    func audit(isSaved: Bool, of conversation: @escaping @Sendable () async -> String?) -> CallAudit? {
        guard let log = registry?.optional((any AuditLog).self) else { return nil }
        var audit = CallAudit(log)
        audit.conversation = conversation
        audit.hasInput = isSaved
        return audit
    }

    /// Removes content of conversations that no longer exist from the audit log.
    private func eraseGoneFromAudit() async throws {
        guard let log = registry?.optional((any AuditLog).self) else { return }
        var gone: [AuditPlace] = []
        for case .conversation(let id) in try await log.places() {
            do { _ = try await history.conversation(ConversationID(rawValue: id)) } catch let error as HistoryError
                where error.kind == .notFound
            { gone.append(.conversation(id)) }
        }
        if !gone.isEmpty { try await log.eraseContent(of: gone) }
    }

    private func directory(_ registry: Registry, _ tracer: Tracer) -> ProviderDirectory {
        opened.withLock { opened in
            if let opened { return opened.directory }
            let client = HTTPClient(configuration(registry, tracer))
            var setup = ProviderSetup(
                client: client, environment: surroundings.environment, redactor: surroundings.redactor,
                clock: surroundings.clock, now: surroundings.now)
            setup.authenticator = registry.optional((any Authenticator).self)
            setup.secrets = registry.optional((any SecretStore).self)
            // Chat's own offered providers would lead back to this directory.
            setup.others = registry.all((any ModelProvider).self).filter { !($0 is OfferedProvider) }
            setup.tracer = tracer
            setup.servers = servers
            setup.profile = profile
            setup.defaultModel = settings.model
            setup.localServers = Self.localServers
            setup.agreed = Set(settings.localServers)
            setup.usesResponses = settings.usesResponses
            setup.sendsAttribution = settings.sendsAttribution
            setup.limits.buffer = settings.buffer.bytes
            setup.lastModel = { [history] provider in
                // An unreadable history must not prevent a question. Its problem is reported when the answer is stored.
                let newest = try? await history.list(HistoryFilter(provider: provider), limit: 1)
                return newest?.items.first?.setup.model
            }
            let made = Opened(client: client, directory: ProviderDirectory(setup))
            opened = made
            return made.directory
        }
    }

    private func configuration(_ registry: Registry, _ tracer: Tracer) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        if let trust = registry.optional((any TrustStore).self) { configuration.trust = TrustDomain(trust) }
        configuration.proxies = ProxySettings(environment: surroundings.environment)
        configuration.feature = "chat"
        configuration.sendsTraceparent = true
        configuration.tracer = tracer
        configuration.now = surroundings.now
        return configuration
    }

    func close() async {
        let opened = opened.withLock { opened in
            defer { opened = nil }
            return opened
        }
        await opened?.directory.close()
        await opened?.client.close()
        await history.close()
    }
}

extension ChatServer {
    init(_ server: ProfileServer) {
        let kind: Kind =
            switch server.kind {
            case .kamiwaza: .kamiwaza
            case .gateway: .gateway
            case .openai: .compatible(.compatible)
            }
        self.init(name: server.profile, address: server.address, kind: kind)
    }
}

extension ChatServices {
    /// The tools of all features and servers, Martlet's own read-only actions, and the files of the current folder.
    func tools(
        _ mode: ToolMode, _ policy: ApprovalPolicy, _ context: ActionContext, in conversation: ConversationID? = nil
    ) async throws -> [any ToolSource] {
        let place = ToolPlace(
            folder: ToolFolder(context).path, conversation: conversation?.rawValue,
            isLastTurn: !context.interaction.canAsk)
        var sources = try await context.registry.toolSources(at: place, telling: context.notice)
        sources.append(ActionTools(context: context))
        if case .deny(let rule, let mend) = context.caller.grant.decide(.path(ToolFolder(context).path, .tree)) {
            context.notice("the model has no tools for the files of this folder: \(rule); \(mend)")
        } else {
            sources.append(try folderTools(mode == .readOnly ? .reading : .all, policy, context))
        }
        return sources
    }

    /// The tools for the files of the current folder, and for commands there.
    func folderTools(
        _ offer: WorkspaceTools.Offer, _ policy: ApprovalPolicy, _ context: ActionContext
    ) throws -> WorkspaceTools {
        let denied = policy.deniedPaths(of: WorkspaceTools.name, WorkspaceTools.fileDescriptions)
        let workspace = Workspace(
            try Workspace(ToolFolder(context).path), denying: denied, home: Files.home(in: surroundings.environment))
        return WorkspaceTools(workspace, offering: offer, shell: shell)
    }

    /// How commands run, those of models and those that the person types in a conversation.
    var shell: ShellOptions {
        let places = surroundings.locations
        let home = Files.home(in: surroundings.environment)
        return ShellOptions(
            environment: surroundings.environment,
            sandbox: settings.sandbox.sandbox(
                home: home, showing: settings.sandboxReads.map(\.text),
                // These folders contain keys, tokens and conversations.
                hiding: [places.config, places.data, places.state, places.cache]))
    }

    /// The approval policy: the settings, with the rules of this conversation.
    func policy(_ mode: ToolMode, rules: [ApprovalRule], _ context: ActionContext) -> ApprovalPolicy {
        var policy = settings.policy
        policy.rules += rules
        policy.mode = mode
        policy.places = PathGlob.Places(
            folder: AbsolutePath(ToolFolder(context).path),
            home: Files.home(in: surroundings.environment).map { AbsolutePath($0) })
        return policy
    }

    /// A turn loop configured by the settings.
    func loop(_ sources: [any ToolSource], _ policy: ApprovalPolicy, _ context: ActionContext) -> TurnLoop {
        var loop = TurnLoop(
            sources: sources, policy: policy, clock: surroundings.clock, now: surroundings.now,
            approve: Approver(context: context).approve)
        loop.limits.rounds = settings.rounds
        if settings.toolFormat == .tagged { loop.formatter = TaggedText() }
        return loop
    }
}
