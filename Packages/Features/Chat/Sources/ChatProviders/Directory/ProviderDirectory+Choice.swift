import Capabilities
import TurnLoop

extension ProviderDirectory {
    /// What a name means, or what is asked where nobody says.
    ///
    /// A name is a provider and a model (`anthropic/claude-haiku-4-5`), a provider (`ollama`), a model (`gpt-4o`), or the
    /// beginning of a model's name that fits one only. Without a name it is the configured default, the profile in use,
    /// a vendor with a key in the environment, another server of the settings, a vendor with a kept key, a server on this
    /// machine, and what other features have, in this order.
    ///
    /// - Parameter agree: Asked before a server of this machine is chosen that nobody has named and that is not among
    ///   `ProviderSetup.agreed`: whatever listens at a usual port would get what is said. False leaves it out.
    public func choice(
        of name: String? = nil,
        agreeing agree: @Sendable (LocalServer) async throws -> Bool = { throw ChatError.notAgreed($0) }
    ) async throws -> ModelChoice {
        if let name = name ?? setup.defaultModel, !name.isEmpty {
            let choice = try await resolve(name)
            let isNamed = name == choice.provider.id || name.hasPrefix("\(choice.provider.id)/")
            guard !isNamed, let server = foundServer(choice.provider.id), try await !agree(server) else {
                return choice
            }
            throw ChatError.notAgreed(server)
        }
        if let profile = setup.profile, let provider = configured.first(where: { $0.id == profile }) {
            return try await defaultChoice(of: provider)
        }
        if let vendor = vendors.first(where: hasVariables) {
            return try await defaultChoice(of: provider(named: vendor.id))
        }
        if let server = configured.dropFirst(vendors.count).first { return try await defaultChoice(of: server) }
        for vendor in vendors where await setup.hasSecret(vendor.id) {
            return try await defaultChoice(of: provider(named: vendor.id))
        }
        for provider in await localProviders() {
            if let server = foundServer(provider.id), try await !agree(server) { continue }
            return try await defaultChoice(of: provider)
        }
        for provider in setup.others where await provider.isAvailable() { return try await lastResort(provider) }
        throw nobody()
    }

    /// The server of this machine with this id, where nobody has agreed yet that it is asked.
    private func foundServer(_ id: String) -> LocalServer? {
        guard !setup.agreed.contains(id), !configured.contains(where: { $0.id == id }) else { return nil }
        return setup.localServers.first { $0.id == id }
    }

    private func lastResort(_ provider: any ModelProvider) async throws -> ModelChoice {
        var choice = try await defaultChoice(of: provider)
        let keys = vendors.map(\.keyVariable).joined(separator: ", ")
        choice.advice =
            "set one of \(keys)" + (setup.authenticator == nil ? "" : ", or 'martlet auth secret set openai'")
        return choice
    }

    /// Whether a provider has this id, whoever it belongs to.
    public func isKnown(_ id: String) -> Bool {
        configured.contains { $0.id == id } || setup.localServers.contains { $0.id == id }
            || setup.others.contains { $0.id == id }
    }

    private func resolve(_ name: String) async throws -> ModelChoice {
        if isKnown(name) { return try await defaultChoice(of: provider(named: name)) }
        if let slash = name.firstIndex(of: "/") {
            let (id, model) = (String(name[..<slash]), String(name[name.index(after: slash)...]))
            if isKnown(id), !model.isEmpty {
                let provider = try await provider(named: id)
                return choice(model, of: try await checked(provider))
            }
        }
        return try await search(name)
    }

    /// What a provider is asked for where nobody says what.
    private func defaultChoice(of provider: any ModelProvider) async throws -> ModelChoice {
        let provider = try await checked(provider)
        if let vendor = vendors.first(where: { $0.id == provider.id }) {
            return choice(await setup.lastModel(provider.id) ?? vendor.defaultModel, of: provider)
        }
        if isGateway(provider.id) { return choice(await setup.lastModel(provider.id) ?? "", of: provider) }
        guard let first = try await provider.models().first else {
            throw ChatError(
                .noModel, "\(provider.name) has no model", remedy: "load one there, or ask another",
                provider: provider.id)
        }
        return ModelChoice(provider: provider, model: first.id, description: setup.table.completing(first))
    }

    private func isGateway(_ id: String) -> Bool {
        if let server = setup.servers.first(where: { $0.name == id }) { return server.kind == .gateway }
        return id == "gateway"
    }

    private func choice(_ model: String, of provider: any ModelProvider) -> ModelChoice {
        ModelChoice(
            provider: provider, model: model, description: setup.table.description(of: model, provider: provider.id))
    }

    /// A vendor without a key is not asked: it would refuse, and read the question before.
    private func checked(_ provider: any ModelProvider) async throws -> any ModelProvider {
        guard let vendor = vendors.first(where: { $0.id == provider.id }), !hasVariables(vendor),
            await setup.lacksSecret(vendor.id)
        else { return provider }
        throw ChatError(
            .noKey, "there is no key for \(vendor.name)",
            remedy: setup.authenticator == nil
                ? "set \(vendor.keyVariable)"
                : "set \(vendor.keyVariable), or keep a key with 'martlet auth secret set \(vendor.id)'",
            provider: vendor.id)
    }

    /// Whether the environment alone is enough to ask a vendor. No secret store is opened for that.
    private func hasVariables(_ vendor: Vendor) -> Bool {
        [vendor.keyVariable, vendor.addressVariable].contains { !setup.environment[$0, default: ""].isEmpty }
    }

    private func nobody() -> ChatError {
        let keys = vendors.map(\.keyVariable).joined(separator: ", ")
        let places = setup.localServers.map { "\($0.name) (\($0.port))" }.joined(separator: ", ")
        let server =
            setup.authenticator == nil
            ? "set KAMIWAZA_BASE_URL or GATEWAY_BASE_URL to the address of a server"
            : "'martlet auth secret set openai' keeps a key, 'martlet auth server add' adds a server"
        return ChatError(
            .noProvider,
            """
            there is no model to ask: set one of \(keys)
            or start a server of models on this machine: \(places)
            or \(server)
            """)
    }
}

extension ChatError {
    /// A server was found at a usual port, and nobody has said that it is the one to ask.
    public static func notAgreed(_ server: LocalServer) -> ChatError {
        ChatError(
            .notAgreed,
            "\(server.name) seems to answer on port \(server.port) of this machine, but nobody has agreed to ask it",
            remedy: "name it with --model \(server.id), or put '\(server.id)' into the setting chat.local-servers",
            provider: server.id)
    }
}
