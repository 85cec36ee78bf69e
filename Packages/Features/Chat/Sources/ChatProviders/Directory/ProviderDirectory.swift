public import Capabilities
import HTTPClient
import Synchronization

/// Who can be asked, and what a name of a model means.
///
///     let directory = ProviderDirectory(setup)
///     let choice = try await directory.choice(of: "anthropic/claude-haiku-4-5")
///     let request = ChatRequest(model: choice.model, messages: [Message(.user, "Hello")])
///     let answer = try await choice.provider.answer(request) { events in … }
///     await directory.close()
///
/// Making one opens nothing. The network is used only where a list of models or a server on this machine is looked for.
public final class ProviderDirectory: Sendable {
    let setup: ProviderSetup
    let vendors: [Vendor]
    /// The vendors, and then the servers of the settings and the environment. Those without a key are in it too.
    public let configured: [any ModelProvider]
    private let factory: ProviderFactory
    private let farewells: Farewells
    private let found = Mutex<(providers: [any ModelProvider], time: Timestamp)?>(nil)

    /// For how long a look around on this machine counts.
    private static let freshness: Duration = .seconds(60)

    public init(_ setup: ProviderSetup) {
        self.setup = setup
        farewells = Farewells()
        let factory = ProviderFactory(setup: setup, farewells: farewells)
        self.factory = factory
        vendors = Vendor.all(sendsAttribution: setup.sendsAttribution, usesResponses: setup.usesResponses)
        let servers = ProviderSetup.all(setup.servers, setup.environment)
        configured = vendors.map { factory.vendor($0) } + servers.map { factory.server($0) }
    }

    /// Returns when every gateway has been told what is to be stopped, two seconds at most.
    public func close() async {
        await farewells.close()
    }

    /// Those that can be asked now, with the servers that are found on this machine.
    public func available() async -> [any ModelProvider] {
        async let local = localProviders()
        var available: [any ModelProvider] = []
        for provider in configured where await provider.isAvailable() { available.append(provider) }
        available += await local
        for provider in setup.others where await provider.isAvailable() { available.append(provider) }
        return available
    }

    /// The provider of that id: a vendor, a profile, a server on this machine, or one of somebody else.
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
            remedy: "there are \(known.joined(separator: ", "))")
    }

    private func notRunning(_ id: String) -> ChatError {
        let place = setup.localServers.first { $0.id == id }.map { "127.0.0.1:\($0.port)" } ?? "this machine"
        return ChatError(
            .unreachable, "no \(id) answers at \(place)", remedy: "start it, and load a model", provider: id)
    }

    // MARK: This machine

    /// The servers that answer at their usual ports of 127.0.0.1, all asked at once.
    func localProviders() async -> [any ModelProvider] {
        let now = setup.now()
        let recent = found.withLock { found in
            found.flatMap { now - $0.time < Self.freshness && $0.time <= now ? $0.providers : nil }
        }
        if let recent { return recent }
        let client = setup.client
        let isThere = await withTaskGroup(of: (Int, Bool).self) { group in
            for (index, server) in setup.localServers.enumerated() {
                group.addTask { (index, await server.isThere(client)) }
            }
            return await group.reduce(into: Set<Int>()) { if $1.1 { $0.insert($1.0) } }
        }
        // A provider of before is kept, with the list that it has.
        let before = found.withLock { $0?.providers } ?? []
        let providers = setup.localServers.indices.filter { isThere.contains($0) }.compactMap { index in
            before.first { $0.id == setup.localServers[index].id } ?? factory.local(setup.localServers[index])
        }
        found.withLock { $0 = (providers, now) }
        return providers
    }
}

extension ProviderFactory {
    func local(_ server: LocalServer) -> any ModelProvider {
        do {
            let access = access(server.id, server.name, .none, remedy: "let it run without a key")
            return ServerProvider(try compatible(access, server.base(), server.quirks), now: setup.now)
        } catch {
            return BrokenProvider(id: server.id, name: server.name, error: error)
        }
    }
}

extension ProviderSetup {
    /// The servers of the settings, and those for which the environment alone has an address.
    static func all(_ servers: [ChatServer], _ environment: [String: String]) -> [ChatServer] {
        var all = servers
        for (id, kind) in [("kamiwaza", ChatServer.Kind.kamiwaza), ("gateway", .gateway)] {
            guard let address = environment[EnvironmentKey.addressVariable(for: id)], !address.isEmpty,
                !all.contains(where: { $0.name == id })
            else { continue }
            all.append(ChatServer(name: id, address: address, kind: kind))
        }
        return all
    }
}
