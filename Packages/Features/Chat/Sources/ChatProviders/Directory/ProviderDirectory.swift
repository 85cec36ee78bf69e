public import Capabilities
import HTTPClient
import HTTPCore
import Synchronization
import TurnLoop

/// The available providers, and the meaning of model names.
///
///     let directory = ProviderDirectory(setup)
///     let choice = try await directory.choice(of: "anthropic/claude-haiku-4-5")
///     let request = ChatRequest(model: choice.model, messages: [Message(.user, "Hello")])
///     let answer = try await choice.provider.answer(request) { events in … }
///     await directory.close()
///
/// Creating a directory opens nothing. It uses the network only to list models and to find servers on this machine.
public final class ProviderDirectory: Sendable {
    private let setup: ProviderSetup
    let vendors: [Vendor]
    /// The vendors, then the servers of the settings and the environment, including those without a key.
    public let configured: [any ModelProvider]
    private let factory: ProviderFactory
    private let farewells: Farewells
    private let found = Mutex<(providers: [any ModelProvider], time: Timestamp)?>(nil)

    /// How long a search for servers on this machine is valid.
    private static let freshness: Duration = .seconds(60)

    /// A directory of these providers. It opens nothing and uses no network.
    public init(_ setup: ProviderSetup) {
        self.setup = setup
        farewells = Farewells()
        let factory = ProviderFactory(setup: setup, farewells: farewells)
        self.factory = factory
        vendors = Vendor.all(sendsAttribution: setup.sendsAttribution, usesResponses: setup.usesResponses)
        let servers = ProviderSetup.all(setup.servers, setup.environment)
        configured = vendors.map { factory.vendor($0) } + servers.map { factory.server($0) }
    }

    /// Returns when every gateway was told what to stop, after two seconds at most.
    public func close() async {
        await farewells.close()
    }

    /// The providers that can be asked now, including servers found on this machine.
    public func available() async -> [any ModelProvider] {
        async let local = localProviders()
        var available: [any ModelProvider] = []
        for provider in configured where await provider.isAvailable() { available.append(provider) }
        available += await local
        for provider in setup.others where await provider.isAvailable() { available.append(provider) }
        return available
    }

    /// The provider with that id: a vendor, a profile, a server on this machine, or one of another feature.
    public func provider(named id: String) async throws -> any ModelProvider {
        if let provider = configured.first(where: { $0.id == id }) { return provider }
        if setup.localServers.contains(where: { $0.id == id }) {
            if let provider = await localProviders().first(where: { $0.id == id }) { return provider }
            throw notRunning(id)
        }
        if let other = setup.others.first(where: { $0.id == id }) { return other }
        let known = configured.map(\.id) + setup.localServers.map(\.id) + setup.others.map(\.id)
        throw ChatError(
            .unknownProvider,
            "there is no provider “\(PlainText.escape(id))”\(Suggestion.text(for: id, among: known))",
            remedy: "the providers are \(known.joined(separator: ", "))")
    }

    private func notRunning(_ id: String) -> ChatError {
        let place = setup.localServers.first { $0.id == id }.map { "127.0.0.1:\($0.port)" } ?? "this machine"
        return ChatError(
            .unreachable, "\(id) does not answer at \(place)", remedy: "start it and load a model", provider: id)
    }

    // MARK: This machine

    /// The servers that answer at their usual ports of 127.0.0.1, all asked at once.
    private func localProviders() async -> [any ModelProvider] {
        let now = setup.now()
        let recent = found.withLock { found in
            found.flatMap { now - $0.time < Self.freshness && $0.time <= now ? $0.providers : nil }
        }
        if let recent { return recent }
        let client = setup.client
        let isThere = await withTaskGroup(of: (Int, Bool).self) { group in
            for (index, server) in setup.localServers.enumerated() {
                // A missing server is expected here; otherwise each trace would contain its refused connection as a failure.
                group.addTask { (index, await Tracer.muted { await server.isThere(client) }) }
            }
            return await group.reduce(into: Set<Int>()) { if $1.1 { $0.insert($1.0) } }
        }
        // An earlier provider is kept with its list of models.
        let before = found.withLock { $0?.providers } ?? []
        let providers = setup.localServers.indices.filter { isThere.contains($0) }.compactMap { index in
            before.first { $0.id == setup.localServers[index].id } ?? factory.local(setup.localServers[index])
        }
        found.withLock { $0 = (providers, now) }
        return providers
    }
}

extension ProviderDirectory {
    /// The models of all available providers, listed in parallel. The model table completes missing values, and
    /// replaces a list that is unavailable.
    public func catalogue() async -> ModelCatalogue {
        await catalogue(of: await available())
    }

    /// The models of one provider, completed in the same way.
    public func models(of id: String) async throws -> [ModelDescription] {
        try await provider(named: id).models().map(setup.table.completing)
    }

    func catalogue(of providers: [any ModelProvider]) async -> ModelCatalogue {
        let listings = await withTaskGroup(of: Listing.self) { group in
            for (place, provider) in providers.enumerated() {
                group.addTask { await Listing(of: provider, at: place) }
            }
            return await group.reduce(into: [Listing]()) { $0.append($1) }
        }
        var catalogue = ModelCatalogue()
        for listing in listings.sorted(by: { $0.place < $1.place }) {
            switch listing.models {
            case .success(let models): catalogue.models += models.map(setup.table.completing)
            case .failure(let error):
                catalogue.models += setup.table.all.filter { $0.provider == listing.provider }
                catalogue.failures.append((listing.provider, AnyFailure(error)))
            }
        }
        return catalogue
    }
}

/// The result of listing the models of a provider. It is not a tuple, because swiftc 6.3.1 miscompiles the first member
/// of a tuple that a task returns from do and catch when it optimises.
private struct Listing: Sendable {
    let place: Int
    let provider: String
    let models: Result<[ModelDescription], any Error>

    init(of provider: any ModelProvider, at place: Int) async {
        self.place = place
        self.provider = provider.id
        do { models = .success(try await provider.models()) } catch { models = .failure(error) }
    }
}

extension ProviderDirectory {
    /// The choice for a name, or the default choice.
    ///
    /// A name is a provider and a model (`anthropic/claude-haiku-4-5`), a provider (`ollama`), a model (`gpt-4o`), or
    /// the beginning of exactly one model's name. Without a name, the order is: the configured default, the profile in
    /// use, a vendor with a key in the environment, another server of the settings, a vendor with a stored key, a
    /// server on this machine, and the providers of other features.
    ///
    /// - Parameter agree: called before a server of this machine is chosen that was not named and is not in
    ///   `ProviderSetup.agreed`, because any program at a usual port would get the messages. False skips the server.
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
        if let vendor = vendors.first(where: setup.hasVariables) {
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

    /// The server of this machine with this id, if its use has not been approved yet.
    private func foundServer(_ id: String) -> LocalServer? {
        guard !setup.agreed.contains(id), !configured.contains(where: { $0.id == id }) else { return nil }
        return setup.localServers.first { $0.id == id }
    }

    private func lastResort(_ provider: any ModelProvider) async throws -> ModelChoice {
        var choice = try await defaultChoice(of: provider)
        let keys = vendors.map(\.keyVariable).joined(separator: ", ")
        choice.advice =
            "set one of \(keys)" + (setup.authenticator == nil ? "" : ", or run 'martlet auth secret set openai'")
        return choice
    }

    /// Whether any provider has this id.
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

    /// The default model of a provider.
    private func defaultChoice(of provider: any ModelProvider) async throws -> ModelChoice {
        let provider = try await checked(provider)
        if let vendor = vendors.first(where: { $0.id == provider.id }) {
            return choice(await setup.lastModel(provider.id) ?? vendor.defaultModel, of: provider)
        }
        if isGateway(provider.id) { return choice(await setup.lastModel(provider.id) ?? "", of: provider) }
        guard let first = try await provider.models().first else {
            throw ChatError(
                .noModel, "\(provider.name) has no model", remedy: "load one there, or use another provider",
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

    /// A vendor without a key is not asked, because it would refuse after it has read the question.
    private func checked(_ provider: any ModelProvider) async throws -> any ModelProvider {
        guard let vendor = vendors.first(where: { $0.id == provider.id }), !setup.hasVariables(of: vendor),
            await setup.lacksSecret(vendor.id)
        else { return provider }
        throw ChatError(
            .noKey, "there is no key for \(vendor.name)", remedy: setup.remedy(for: vendor), provider: vendor.id)
    }

    private func nobody() -> ChatError {
        let keys = vendors.map(\.keyVariable).joined(separator: ", ")
        let places = setup.localServers.map { "\($0.name) (\($0.port))" }.joined(separator: ", ")
        let server =
            setup.authenticator == nil
            ? "set KAMIWAZA_BASE_URL or GATEWAY_BASE_URL to the address of a server"
            : "store a key with 'martlet auth secret set openai', or add a server with 'martlet auth server add'"
        return ChatError(
            .noProvider,
            """
            no model is available: set one of \(keys)
            or start a model server on this machine: \(places)
            or \(server)
            """)
    }
}

extension ProviderDirectory {
    /// The address to which messages for a provider are sent; nil for a provider in this process or of another feature.
    public func address(of id: String) -> String? {
        if let vendor = vendors.first(where: { $0.id == id }) {
            return Self.normal(vendor.address(in: setup.environment))
        }
        if let server = ProviderSetup.all(setup.servers, setup.environment).first(where: { $0.name == id }) {
            return Self.normal(server.address)
        }
        return setup.localServers.first { $0.id == id }.map { "http://127.0.0.1:\($0.port)/" }
    }

    /// Whether the provider is a server found on this machine, and is not in the settings.
    public func isFound(_ id: String) -> Bool {
        setup.localServers.contains { $0.id == id } && !configured.contains { $0.id == id }
    }

    /// Whether the provider belongs to another feature.
    public func isOther(_ id: String) -> Bool { setup.others.contains { $0.id == id } }

    /// The deployment of a model's name, if it is known without a request.
    public func deployment(of choice: ModelChoice) -> String? {
        (choice.provider as? KamiwazaProvider)?.deploymentID(of: choice.model)
    }

    /// Normalises an address, so that equal addresses compare as equal.
    private static func normal(_ address: String) -> String {
        do throws(HTTPError) {
            let text = try HTTPURL(address, assuming: .https).text
            return text.hasSuffix("/") ? text : text + "/"
        } catch {
            // An invalid address is reported when it is used.
            return address
        }
    }
}

extension ProviderDirectory {
    /// The choice for a name without a provider.
    func search(_ name: String) async throws -> ModelChoice {
        // Known models need no list, so the question is sent at once.
        for provider in configured {
            guard let known = setup.table.description(of: name, provider: provider.id),
                await provider.isAvailable()
            else { continue }
            return ModelChoice(provider: provider, model: name, description: known)
        }
        let providers = await available()
        let catalogue = await catalogue(of: providers)
        let exact = catalogue.models.first { $0.id == name }
        if let exact, let provider = providers.first(where: { $0.id == exact.provider }) {
            return ModelChoice(provider: provider, model: exact.id, description: exact)
        }
        let wanted = name.lowercased()
        let fitting = catalogue.models.filter { $0.id.lowercased().hasPrefix(wanted) }
        if Set(fitting.map(\.id)).count > 1 { throw ambiguous(name, fitting) }
        if let only = fitting.first, let provider = providers.first(where: { $0.id == only.provider }) {
            return ModelChoice(provider: provider, model: only.id, description: only)
        }
        // A new model that is not in the vendor's list, or whose list is unavailable. The vendor decides.
        if let vendor = vendors.first(where: { $0.families.contains { wanted.hasPrefix($0) } }),
            let provider = providers.first(where: { $0.id == vendor.id })
        {
            return ModelChoice(provider: provider, model: name, description: nil)
        }
        throw notFound(name, catalogue, providers)
    }

    private func ambiguous(_ name: String, _ fitting: [ModelDescription]) -> ChatError {
        let names = fitting.prefix(5).map { "'\(PlainText.escape("\($0.provider)/\($0.id)"))'" }
        return ChatError(
            .ambiguousModel, "several models begin with \(ChatError.shown(name))",
            remedy: "specify one: \(names.joined(separator: ", "))\(fitting.count > 5 ? ", …" : "")")
    }

    private func notFound(
        _ name: String, _ catalogue: ModelCatalogue, _ providers: [any ModelProvider]
    ) -> ChatError {
        if let vendor = vendors.first(where: { $0.families.contains { name.lowercased().hasPrefix($0) } }),
            !providers.contains(where: { $0.id == vendor.id })
        {
            return ChatError(
                .noKey, "\(ChatError.shown(name)) is a model of \(vendor.name), for which there is no key",
                remedy: setup.remedy(for: vendor), provider: vendor.id)
        }
        let names = ChatError.nearest(to: name, among: catalogue.models.map(\.id)).map { "'\(PlainText.escape($0))'" }
        let advice = names.isEmpty ? "" : "did you mean \(names.joined(separator: ", "))? "
        let silent = catalogue.failures.map(\.provider)
        let without = silent.isEmpty ? "" : " (could not list the models of \(silent.joined(separator: ", ")))"
        return ChatError(
            .modelNotFound, "no provider has a model \(ChatError.shown(name))\(without)",
            remedy: "\(advice)'martlet chat models' lists the available models")
    }
}
