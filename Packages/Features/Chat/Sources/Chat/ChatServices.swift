import Capabilities
import ChatHistory
import ChatProviders
import HTTPClient
import OpenAIDialect
import Registry
import Settings
import StorageKit
import Synchronization

/// What the parts of Chat share. Making it opens nothing.
final class ChatServices: Sendable {
    let settings: FeatureSettings
    let surroundings: Surroundings
    let history: History
    private let opened = Mutex<Opened?>(nil)

    private struct Opened {
        let client: HTTPClient
        let directory: ProviderDirectory
    }

    init(settings: FeatureSettings, surroundings: Surroundings) {
        self.settings = settings
        self.surroundings = surroundings
        history = History("\(surroundings.locations.data)/chat.db", clock: surroundings.clock, now: surroundings.now) {
            ActionContext.current?.notice($0.message)
        }
    }

    /// The providers, made with what the composition offers when they are first needed.
    func directory(_ context: ActionContext) -> ProviderDirectory {
        opened.withLock { opened in
            if let opened { return opened.directory }
            let client = HTTPClient(configuration(context))
            var setup = ProviderSetup(
                client: client, environment: surroundings.environment, redactor: surroundings.redactor,
                clock: surroundings.clock, now: surroundings.now)
            setup.authenticator = context.registry.optional((any Authenticator).self)
            setup.secrets = context.registry.optional((any SecretStore).self)
            setup.servers = settings.servers.map(ChatServer.init)
            setup.profile = settings.profile
            setup.defaultModel = settings[ChatSettings.model]
            setup.usesResponses = settings[ChatSettings.responses]
            setup.sendsAttribution = settings[ChatSettings.attribution]
            setup.limits.buffer = min(max(settings[ChatSettings.buffer].bytes, 16 << 10), 512 << 10)
            setup.lastModel = { [history] provider in
                // Without a history there is nothing that was used last.
                let newest = try? await history.list(HistoryFilter(provider: provider), limit: 1)
                return newest?.items.first?.setup.model
            }
            let made = Opened(client: client, directory: ProviderDirectory(setup))
            opened = made
            return made.directory
        }
    }

    private func configuration(_ context: ActionContext) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        if let trust = context.registry.optional((any TrustStore).self) { configuration.trust = TrustDomain(trust) }
        configuration.proxies = ProxySettings(environment: surroundings.environment)
        configuration.feature = "chat"
        configuration.tracer = context.tracer
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
