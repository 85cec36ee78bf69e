import Capabilities
import HTTPClient
import KamiwazaKit
import MCPServers
import Registry
import Settings
import Synchronization

/// What the person's platforms tell of their tools. Each is asked when servers are needed, at most once a minute; while one
/// does not answer, its last list is used.
final class Platforms: Sendable {
    /// The profiles whose server is a platform.
    private let profiles: [ProfileServer]
    /// Sentences about platforms that are left out.
    private let problems: [String]
    private let records: ToolRecords
    private let surroundings: Surroundings
    private let limit: Duration
    /// Raised when a platform tells of other tools than before.
    private let changes: Signal
    private let client: @Sendable () -> HTTPClient
    private let authenticator: @Sendable () -> (any Authenticator)?
    private let state = Mutex(State())

    private struct State {
        var asked: [String: Timestamp] = [:]
        var asking: [String: Promise<Void>] = [:]
        var bases: [String: HTTPURL] = [:]
        var listings: [String: PlatformListing] = [:]
        /// The profiles whose failure the person knows, and other sentences that were told.
        var told: Set<String> = []
    }

    private static let pause = Duration.seconds(60)
    /// Each is a server that may be started, so that a platform cannot have any number.
    static let most = 500

    init(
        _ servers: [ProfileServer], records: ToolRecords, surroundings: Surroundings, limit: Duration,
        changes: Signal, client: @escaping @Sendable () -> HTTPClient,
        authenticator: @escaping @Sendable () -> (any Authenticator)?
    ) {
        let platforms = servers.filter { $0.kind == .kamiwaza }
        // The servers of a project need a yes each, and a platform may name any number of them.
        let (theirs, own) = (platforms.filter(\.isOfProject), platforms.filter { !$0.isOfProject })
        profiles = own
        problems = theirs.map { profile in
            let name = PlainText.escape(profile.profile)
            return
                "the tools of the platform of the profile \(name) are left out, since the project names it; to use them, set profiles.\(name).server in your own settings"
        }
        (self.records, self.surroundings, self.limit, self.changes) = (records, surroundings, limit, changes)
        (self.client, self.authenticator) = (client, authenticator)
    }

    // MARK: What is known

    /// What the platforms told last. Nobody is asked.
    func known() async throws -> [PlatformListing] {
        var found: [PlatformListing] = []
        for profile in profiles {
            if let listing = try await known(profile) { found.append(listing) }
        }
        return found
    }

    private func known(_ profile: ProfileServer) async throws -> PlatformListing? {
        if let listing = state.withLock({ $0.listings[profile.profile] }) { return listing }
        guard let listing = try await records.listing(of: profile.profile, at: profile.address) else { return nil }
        return state.withLock { state in
            // Somebody may have asked meanwhile.
            let newest = state.listings[profile.profile] ?? listing
            state.listings[profile.profile] = newest
            return newest
        }
    }

    /// The same for a person who is typing.
    func knownNow() -> [PlatformListing] {
        profiles.compactMap { profile in
            state.withLock { $0.listings[profile.profile] }
                ?? records.listingNow(of: profile.profile, at: profile.address)
        }
    }

    /// Signs requests to a tool; nil without a session, or for a tool that is not at the platform itself.
    func signIn(for server: ConfiguredServer) -> PlatformSignIn? {
        guard let profile = profiles.first(where: { $0.profile == server.platform }),
            let authenticator = authenticator()
        else { return nil }
        guard case .address(let url) = server.entry.way else { return nil }
        do {
            let platform = try KamiwazaAddress(profile.address).url
            guard try HTTPURL(url).isSameOrigin(as: platform) else { return nil }
            return PlatformSignIn(authenticator, profile: profile.profile, at: platform)
        } catch {
            // What is no address is told when it is asked.
            return nil
        }
    }

    // MARK: Asking

    /// What the platforms tell now.
    ///
    /// - Parameter tell: is told once that a platform does not answer.
    func current(telling tell: (String) -> Void) async throws -> [PlatformListing] {
        let failures = try await withThrowingTaskGroup(of: String?.self) { group in
            for profile in profiles { group.addTask { try await self.ask(profile) } }
            var failures: [String] = []
            while let failure = try await group.next() { if let failure { failures.append(failure) } }
            return failures
        }
        for problem in problems where state.withLock({ $0.told.insert(problem).inserted }) { tell(problem) }
        for failure in failures.sorted() { tell(failure) }
        return try await known()
    }

    /// Asks a platform, unless it was asked lately. Returns a sentence about a failure that the person does not know yet.
    private func ask(_ profile: ProfileServer) async throws -> String? {
        let name = profile.profile
        let now = surroundings.now()
        let (own, others) = state.withLock { state -> (Promise<Void>?, Promise<Void>?) in
            if let running = state.asking[name] { return (nil, running) }
            if let last = state.asked[name], now >= last, now - last < Self.pause { return (nil, nil) }
            let promise = Promise<Void>()
            (state.asked[name], state.asking[name]) = (now, promise)
            return (promise, nil)
        }
        try await others?.value()
        guard let own else { return nil }
        defer {
            state.withLock { $0.asking[name] = nil }
            own.settle(())
        }
        let before = try await known(profile)
        do {
            var listing = try await list(profile)
            let (count, most) = (listing.tools.count, Self.most)
            listing = PlatformListing(profile: name, tools: Array(listing.tools.prefix(most)))
            state.withLock { $0.listings[name] = listing }
            if before != listing {
                changes.raise()
                if before != nil || !listing.tools.isEmpty {
                    try await records.learn(listing, at: profile.address, at: now)
                }
            }
            if count <= most {
                state.withLock { _ = $0.told.remove(name) }
                return nil
            }
            return failure(of: name, "has \(count) tools, of which only the first \(most) are used")
        } catch {
            if Task.isCancelled {
                state.withLock { $0.asked[name] = nil }
                throw CancellationError()
            }
            let remedy =
                try await known(profile)?.tools.isEmpty == false ? "those that it listed last are used" : "none is used"
            return failure(of: name, "does not list its tools, so that \(remedy): \(AnyFailure(error).message)")
        }
    }

    /// A sentence for the person; nil if they know already that something is wrong with the platform.
    private func failure(of profile: String, _ words: String) -> String? {
        guard state.withLock({ $0.told.insert(profile).inserted }) else { return nil }
        return "the platform of the profile \(PlainText.escape(profile)) \(words)"
    }

    private func list(_ profile: ProfileServer) async throws -> PlatformListing {
        // It is the person's platform, whoever needs its tools; and nobody is asked, who might take longer than the limit.
        let tools = try await LiveServer.asOwner {
            try await withTimeLimit(limit, on: surroundings.clock) { try await self.tools(of: profile) }
        }
        guard let tools else {
            throw ServerError(
                .platformSilent,
                "it did not answer within \(limit.words), which is the limit (mcp.platform-limit)")
        }
        return PlatformListing(
            profile: profile.profile,
            tools: tools.map { PlatformTool(id: $0.id, name: $0.name, url: $0.url.text) })
    }

    private func tools(of profile: ProfileServer) async throws -> [KamiwazaTool] {
        let client = client()
        var api = KamiwazaAPI(try await base(of: profile, client), client: client)
        if let authenticator = authenticator() {
            api.credential = .signer(RequestSigner(authenticator, for: ServerID(profile.profile)))
        }
        return try await api.tools()
    }

    /// The base of the API. An address that does not lead to it is asked for it.
    private func base(of profile: ProfileServer, _ client: HTTPClient) async throws -> HTTPURL {
        if let known = state.withLock({ $0.bases[profile.profile] }) { return known }
        let address = try KamiwazaAddress(profile.address)
        let base =
            address.candidates.count == 1 ? address.url : try await address.discover(using: client)
        state.withLock { $0.bases[profile.profile] = base }
        return base
    }
}

extension ProfileServer {
    fileprivate var isOfProject: Bool { if case .project = origin { true } else { false } }
}
