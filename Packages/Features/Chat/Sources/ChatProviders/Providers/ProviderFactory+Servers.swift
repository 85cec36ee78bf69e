import Capabilities
import HTTPClient
import HTTPCore
import OpenAIDialect

extension ProviderFactory {
    func server(_ server: ChatServer) -> any ModelProvider {
        do {
            let url = try HTTPURL(server.address, assuming: .https)
            switch server.kind {
            case .kamiwaza: return KamiwazaProvider(self, server.name, url, try credential(server, url))
            case .gateway: return ServerProvider(try gateway(server, url), now: setup.now)
            case .compatible(let quirks): return ServerProvider(try compatible(server, url, quirks), now: setup.now)
            }
        } catch {
            return BrokenProvider(id: server.name, name: server.name, error: error)
        }
    }

    /// A key that the environment has for this very server, else whoever signs for its profile.
    private func credential(_ server: ChatServer, _ url: HTTPURL) throws -> Credential {
        for id in [server.name, server.kind.word].compactMap(\.self) {
            let found = try EnvironmentKey(for: id, in: setup.environment, redactor: setup.redactor)
            if let credential = found.credential(for: url) { return credential }
        }
        guard let authenticator = setup.authenticator else { return .none }
        return .signer(RequestSigner(authenticator, for: ServerID(server.name)))
    }

    func access(_ name: String, _ credential: Credential) -> ServerAccess {
        let variables = (SecretName(name).environmentVariable, EnvironmentKey.addressVariable(for: name))
        let remedy =
            setup.authenticator == nil || setup.environment[variables.1] != nil
            ? "set \(variables.0) and \(variables.1)" : "sign in with 'martlet auth login \(name)'"
        return access(name, name, credential, remedy: remedy)
    }

    private func gateway(_ server: ChatServer, _ url: HTTPURL) throws -> ServerPlan {
        let base = try url.versioned()
        let access = access(server.name, try credential(server, url))
        let chat = try base.below("/chat/completions")
        // It refuses for a minute after a burst, and does not say so.
        let question = StreamedAnswer(
            access: access, url: chat, rateLimitWait: .seconds(60),
            agent: AgentServer(
                sessions: try base.below("/sessions"),
                stop: { [farewells] session in farewells.stop(session, at: chat, through: access) }))
        return ServerPlan(
            access: access, question: question, dialect: OpenAIDialect(.gateway), defaultModel: nil,
            projects: try base.below("/projects"), isAvailable: { true }, lastModel: lastModel(server.name),
            load: {
                do {
                    // The better list is not there in every version.
                    return try await Self.list(base.below("/models/capabilities"), access)
                } catch let error as ChatError where error.status == 404 || error.kind == .badAnswer {
                    return try await Self.list(base.below("/models"), access)
                }
            })
    }

    private func compatible(_ server: ChatServer, _ url: HTTPURL, _ quirks: OpenAIQuirks) throws -> ServerPlan {
        try compatible(access(server.name, credential(server, url)), url.versionedIfBare(), quirks)
    }

    func compatible(_ access: ServerAccess, _ base: HTTPURL, _ quirks: OpenAIQuirks) throws -> ServerPlan {
        let list = try base.below("/models")
        return ServerPlan(
            access: access,
            question: StreamedAnswer(
                access: access, url: try base.below("/chat/completions"), readsErrorField: quirks.readsErrorField),
            dialect: OpenAIDialect(quirks), defaultModel: nil, embeddings: try base.below("/embeddings"),
            isAvailable: { true }, lastModel: lastModel(access.id), load: { try await Self.list(list, access) })
    }

    private static func list(_ url: HTTPURL, _ access: ServerAccess) async throws -> [ModelDescription] {
        try await ModelList.load(url, from: access) { body in
            (try OpenAIDialect.models(in: body, provider: access.id), nil)
        }
    }
}

extension ChatServer.Kind {
    /// By which the environment may have a key for the only server of this kind.
    var word: String? {
        switch self {
        case .kamiwaza: "kamiwaza"
        case .gateway: "gateway"
        case .compatible: nil
        }
    }
}
