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

/// What the parts of Chat share. Making it opens nothing.
final class ChatServices: Sendable {
    let settings: FeatureSettings
    let surroundings: Surroundings
    let history: History
    private let opened = Mutex<Opened?>(nil)

    /// Where servers are looked for on this machine. A test has places of its own, or it would meet what runs there.
    @TaskLocal static var localServers = LocalServer.usual

    /// What the composition of these services offers.
    private let whole: WholeRegistry

    /// What the composition of these services offers; nil once it has ended.
    var registry: Registry? { whole.registry }

    private struct Opened {
        let client: HTTPClient
        let directory: ProviderDirectory
    }

    init(settings: FeatureSettings, surroundings: Surroundings, whole: WholeRegistry, drafts: Holdings) {
        self.settings = settings
        self.surroundings = surroundings
        self.whole = whole
        history = History(
            "\(surroundings.locations.data)/chat.db",
            without: settings[ChatSettings.keepsSecrets] ? nil : surroundings.redactor, drafts: drafts,
            clock: surroundings.clock, now: surroundings.now
        ) {
            $0.tell(ActionContext.current?.notice)
        }
    }

    /// The providers, made when they are first needed with what this composition offers: whoever asks may have begun with
    /// another one.
    func directory() throws(ChatError) -> ProviderDirectory {
        guard let registry = whole.registry else {
            throw ChatError(.noProvider, "the program has ended", remedy: "start it again")
        }
        let sinks = registry.all((any SpanSink).self)
        return directory(registry, Tracer(sinks: sinks, now: surroundings.now, redactor: surroundings.redactor))
    }

    /// Has those who answered remove what they keep here, as far as nothing that stays goes on with it.
    ///
    /// - Parameter id: of which conversation; nil for all that were deleted.
    /// - Returns: the names of those who keep something elsewhere.
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

    /// Removes for good what was deleted, with the sessions of it that are kept here.
    func emptyBin() async throws -> Int {
        if let registry = whole.registry {
            let elsewhere = try await forgetSessions(of: nil, registry)
            if !elsewhere.isEmpty {
                ActionContext.current?.notice(
                    "what \(elsewhere.joined(separator: " and ")) has of deleted conversations stays there")
            }
        }
        return try await history.purge(deletedBefore: Timestamp(microseconds: .max))
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
            // Our own would lead back here.
            setup.others = registry.all((any ModelProvider).self).filter { !($0 is OfferedProvider) }
            setup.tracer = tracer
            setup.servers = settings.servers.map(ChatServer.init)
            setup.profile = settings.profile
            setup.defaultModel = settings[ChatSettings.model]
            setup.localServers = Self.localServers
            setup.agreed = Set(settings[ChatSettings.localServers])
            setup.usesResponses = settings[ChatSettings.responses]
            setup.sendsAttribution = settings[ChatSettings.attribution]
            setup.limits.buffer = settings[ChatSettings.buffer].bytes
            setup.lastModel = { [history] provider in
                // A history that cannot be read keeps nobody from asking; what is wrong with it is told when the answer
                // is to be stored.
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
    /// Everybody's tools, what Martlet itself can do without changing anything, and the files of the folder it runs in.
    func tools(
        _ mode: ToolMode, _ policy: ApprovalPolicy, _ context: ActionContext
    ) throws -> [any ToolSource] {
        let folder = ToolFolder(context).path
        var sources = context.registry.all((any ToolSource).self) + [ActionTools(context: context)]
        if case .deny(let rule, let mend) = context.caller.grant.decide(.path(folder, .tree)) {
            context.notice("the model has no tools for the files where it runs: \(rule); \(mend)")
        } else {
            let denied = policy.deniedPaths(of: WorkspaceTools.name, WorkspaceTools.fileDescriptions)
            let workspace = Workspace(
                try Workspace(folder), denying: denied, home: Files.home(in: surroundings.environment))
            sources.append(
                WorkspaceTools(workspace, offering: mode == .readOnly ? .reading : .all, shell: shell))
        }
        return sources
    }

    /// How commands of models are run.
    var shell: ShellOptions {
        let places = surroundings.locations
        let home = Files.home(in: surroundings.environment)
        return ShellOptions(
            environment: surroundings.environment,
            sandbox: settings[ChatSettings.sandbox].sandbox(
                home: home, showing: settings[ChatSettings.sandboxReads].map(\.text),
                // Keys, tokens and what was said lie there.
                hiding: [places.config, places.data, places.state, places.cache]))
    }

    /// Who has to agree: the settings say it, and rules that hold for this conversation.
    func policy(_ mode: ToolMode, rules: [ApprovalRule], _ context: ActionContext) -> ApprovalPolicy {
        var policy = settings[ChatSettings.policy]
        policy.rules += rules
        policy.mode = mode
        policy.places = PathGlob.Places(
            folder: AbsolutePath(ToolFolder(context).path),
            home: Files.home(in: surroundings.environment).map { AbsolutePath($0) })
        return policy
    }

    /// A turn by the settings.
    func loop(_ sources: [any ToolSource], _ policy: ApprovalPolicy, _ context: ActionContext) -> TurnLoop {
        var loop = TurnLoop(
            sources: sources, policy: policy, clock: surroundings.clock, now: surroundings.now,
            approve: Approver(context: context).approve)
        loop.limits.rounds = settings[ChatSettings.rounds]
        if settings[ChatSettings.toolFormat] == .tagged { loop.formatter = TaggedText() }
        return loop
    }
}
