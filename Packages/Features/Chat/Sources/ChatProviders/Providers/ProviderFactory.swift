import AnthropicDialect
import Capabilities
import GatewayKit
import HTTPClient
import HTTPCore
import OpenAIDialect

/// Creates providers. It opens nothing.
struct ProviderFactory: Sendable {
    let setup: ProviderSetup
    let farewells: Farewells

    func access(
        _ id: String, _ name: String, _ signer: RequestSigner?, remedy: String, headers: HTTPHeaders = [:]
    ) -> ServerAccess {
        ServerAccess(
            id: id, name: name, client: setup.client, signer: signer, remedy: remedy, redactor: setup.redactor,
            limits: setup.limits, clock: setup.clock, tracer: setup.tracer ?? Tracer(sinks: [], now: setup.now),
            headers: headers)
    }

    func lastModel(_ id: String) -> @Sendable () async -> String? {
        { [setup] in await setup.lastModel(id) }
    }
}

extension ProviderFactory {
    func server(_ server: ChatServer) -> any ModelProvider {
        do {
            let url = try HTTPURL(server.address, assuming: .https)
            switch server.kind {
            case .kamiwaza: return KamiwazaProvider(self, server.name, url, try signer(server, url))
            case .gateway: return ServerProvider(try gateway(server, url), now: setup.now)
            case .compatible(let quirks): return ServerProvider(try compatible(server, url, quirks), now: setup.now)
            }
        } catch {
            return BrokenProvider(id: server.name, name: server.name, error: error)
        }
    }

    func local(_ server: LocalServer) -> any ModelProvider {
        do {
            let access = access(server.id, server.name, nil, remedy: "run it without a key")
            return ServerProvider(try compatible(access, server.base(), server.quirks), now: setup.now)
        } catch {
            return BrokenProvider(id: server.id, name: server.name, error: error)
        }
    }

    /// Signs with the key for this very server from the environment, else as its profile.
    private func signer(_ server: ChatServer, _ url: HTTPURL) throws -> RequestSigner? {
        for id in [server.name, server.kind.word].compactMap(\.self) {
            if let own = try environmentKey(of: id).authenticator(for: url) {
                return RequestSigner(own, for: ServerID(server.name))
            }
        }
        return setup.authenticator.map { RequestSigner($0, for: ServerID(server.name)) }
    }

    private func environmentKey(of id: String) throws(ChatError) -> EnvironmentKey {
        do throws(EnvironmentKeyError) {
            return try EnvironmentKey(for: id, in: setup.environment, redactor: setup.redactor)
        } catch {
            throw ChatError(error, provider: id)
        }
    }

    func access(_ name: String, _ signer: RequestSigner?) -> ServerAccess {
        let key = SecretName(name)
        let remedy =
            setup.authenticator == nil || setup.environment[key.addressVariable] != nil
            ? "set \(key.environmentVariable) and \(key.addressVariable)"
            : "sign in with 'martlet auth login \(name)'"
        return access(name, name, signer, remedy: remedy)
    }

    private func gateway(_ server: ChatServer, _ url: HTTPURL) throws -> ServerPlan {
        let access = access(server.name, try signer(server, url))
        let gateway = try RemoteGateway(
            ServerID(access.id), at: url, client: access.client, signer: access.signer, remedy: access.remedy,
            redactor: access.redactor, clock: access.clock)
        // It refuses requests for a minute after a burst, without a wait time.
        let question = StreamedAnswer(
            access: access, url: try gateway.completions, rateLimitWait: .seconds(60),
            agent: AgentTalk(
                gateway: gateway, stop: { [farewells] session in farewells.stop(session, at: gateway) }))
        return ServerPlan(
            access: access, question: question, dialect: OpenAIDialect(.gateway), defaultModel: nil,
            isAvailable: { true }, lastModel: lastModel(server.name),
            load: { try await Self.models(of: gateway, access) })
    }

    private func compatible(_ server: ChatServer, _ url: HTTPURL, _ quirks: OpenAIQuirks) throws -> ServerPlan {
        try compatible(access(server.name, signer(server, url)), url.versionedIfBare(), quirks)
    }

    private func compatible(_ access: ServerAccess, _ base: HTTPURL, _ quirks: OpenAIQuirks) throws -> ServerPlan {
        let list = try base.below("/models")
        return ServerPlan(
            access: access,
            question: StreamedAnswer(
                access: access, url: try base.below("/chat/completions"), readsErrorField: quirks.readsErrorField),
            dialect: OpenAIDialect(quirks), defaultModel: nil, embeddings: try base.below("/embeddings"),
            isAvailable: { true }, lastModel: lastModel(access.id), load: { try await Self.list(list, access) })
    }

    private static func models(of gateway: RemoteGateway, _ access: ServerAccess) async throws -> [ModelDescription] {
        do {
            // Many gateways do not have the list with capabilities, and some have something else there.
            let answer = try await access.asking { try await gateway.modelCapabilities() }
            if case .value(let models) = answer { return models }
        } catch let error as ChatError where error.kind == .badAnswer {}
        return try await access.asking {
            try await gateway.models().required("list of models", of: gateway.server)
        }
    }

    private static func list(_ url: HTTPURL, _ access: ServerAccess) async throws -> [ModelDescription] {
        try await ModelList.load(url, from: access) { body in
            (try OpenAIDialect.models(in: body, provider: access.id), nil)
        }
    }
}

extension ProviderFactory {
    func vendor(_ vendor: Vendor) -> any ModelProvider {
        do {
            return ServerProvider(try plan(vendor), now: setup.now)
        } catch {
            return BrokenProvider(id: vendor.id, name: vendor.name, error: error)
        }
    }

    private func plan(_ vendor: Vendor) throws -> ServerPlan {
        let found = try environmentKey(of: vendor.id)
        let base = try (found.address ?? HTTPURL(vendor.base))
        // Anthropic's own library expects the address without the version, and others with it.
        let home = vendor.id == "anthropic" ? try base.versioned() : base
        let authenticator = found.authenticator(for: vendor.key) ?? setup.authenticator
        let signer = authenticator.map { RequestSigner($0, for: ServerID(vendor.id)) }
        let access = access(vendor.id, vendor.name, signer, remedy: setup.remedy(for: vendor), headers: vendor.headers)
        let list = try home.below("/models" + (vendor.listQuery.isEmpty ? "" : "?\(vendor.listQuery)"))
        return ServerPlan(
            access: access,
            question: StreamedAnswer(access: access, url: try home.below(vendor.path)), dialect: vendor.dialect,
            defaultModel: vendor.defaultModel,
            embeddings: vendor.id == "anthropic" ? nil : try home.below("/embeddings"),
            isAvailable: { [setup] in
                if setup.hasVariables(of: vendor) { return true }
                return await setup.hasSecret(vendor.id)
            }, lastModel: lastModel(vendor.id), load: { try await Self.models(of: vendor, list, access) })
    }

    private static func models(
        of vendor: Vendor, _ list: HTTPURL, _ access: ServerAccess
    ) async throws -> [ModelDescription] {
        try await ModelList.load(list, from: access) { body in
            guard vendor.id == "anthropic" else {
                let models = try OpenAIDialect.models(in: body, provider: vendor.id)
                return (vendor.id == "openai" ? models.filter(\.isForChat) : models, nil)
            }
            let page = try AnthropicDialect.models(in: body, provider: vendor.id)
            return (page.models, page.next)
        }
    }
}

extension ModelDescription {
    /// OpenAI lists all its models, and most of them are not for chat.
    fileprivate var isForChat: Bool {
        let others = [
            "embedding", "whisper", "tts", "dall-e", "moderation", "davinci", "babbage", "image", "sora", "realtime",
            "transcribe", "audio", "computer-use",
        ]
        return !others.contains { id.contains($0) }
    }
}

/// A provider with invalid settings or variables. It reports the reason when it is used, and the others still work.
final class BrokenProvider: ModelProvider {
    let id: String
    let name: String
    private let error: any Error

    init(id: String, name: String, error: any Error) {
        self.id = id
        self.name = name
        self.error = error
    }

    func isAvailable() async -> Bool { false }
    func models() async throws -> [ModelDescription] { throw error }
    func agentServer() async throws -> (any AgentServer)? { throw error }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        throw error
    }
}
