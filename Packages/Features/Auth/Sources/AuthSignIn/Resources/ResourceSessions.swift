public import Capabilities
public import HTTPClient
import Synchronization

/// Signs requests to resources with the sessions of their users, renews those, and lets the user sign in.
///
/// A credential belongs to the address of a resource, and is sent to the origin of that address only.
public final class ResourceSessions: ResourceSignIn {
    /// How the user is asked to sign in.
    public struct Asker: Sendable {
        /// Asks whether the user wants to, before the servers that the resource names are asked anything. Throws if
        /// nobody is there, or does not want to.
        public var permit: @Sendable (ResourceAddress) async throws -> Void
        /// Whether a browser of this machine can be opened, so that another device is not needed.
        public var hasBrowser: @Sendable () -> Bool
        /// Opens an address in the user's browser.
        public var show: @Sendable (HTTPURL) async throws -> Void
        /// Shows the code to sign in with on another device.
        public var showCode: @Sendable (DeviceCode) async throws -> Void
        /// Tells the user why they are asked a second time.
        public var notice: @Sendable (String) -> Void

        /// `permit` is called first for each sign-in, then one of the others shows where to sign in.
        public init(
            permit: @escaping @Sendable (ResourceAddress) async throws -> Void,
            hasBrowser: @escaping @Sendable () -> Bool = { true },
            show: @escaping @Sendable (HTTPURL) async throws -> Void,
            showCode: @escaping @Sendable (DeviceCode) async throws -> Void = { _ in },
            notice: @escaping @Sendable (String) -> Void = { _ in }
        ) {
            self.permit = permit
            self.hasBrowser = hasBrowser
            self.show = show
            self.showCode = showCode
            self.notice = notice
        }
    }

    private struct State {
        var keepers: [ResourceAddress: SessionKeeper] = [:]
        /// The sign-ins that are under way, each for all that wait for it.
        var signIns: [ResourceAddress: Promise<Void>] = [:]
    }

    private let store: any ResourceStore
    private let identity: ResourceClient
    private let client: HTTPClient
    private let now: @Sendable () -> Timestamp
    private let ask: Asker
    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    /// - Parameters:
    ///   - now: the current time, to compare with expiries.
    ///   - clock: measures how long the user takes.
    public init(
        in store: any ResourceStore, as identity: ResourceClient, client: HTTPClient,
        now: @escaping @Sendable () -> Timestamp, ask: Asker, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.store = store
        self.identity = identity
        self.client = client
        self.now = now
        self.ask = ask
        self.clock = clock
    }

    /// Ends; a renewal in progress is stored first.
    public func close() async {
        let keepers = state.withLock { state in
            defer { state.keepers = [:] }
            return state.keepers.values
        }
        for keeper in keepers { await keeper.close() }
    }

    private func keeper(for resource: ResourceAddress) -> SessionKeeper {
        state.withLock { state in
            if let keeper = state.keepers[resource] { return keeper }
            let keeper = SessionKeeper(
                StoredResource(resource: resource, store: store, identity: identity, client: client, now: now),
                now: now)
            state.keepers[resource] = keeper
            return keeper
        }
    }

    // MARK: Signing

    public func sign(_ request: inout RequestHead, for resource: ResourceAddress) async throws {
        guard let session = try await session(for: resource), session.isFor(try HTTPURL(request.url)) else { return }
        session.accessToken.withText { request.headers.append(("Authorization", Secret("Bearer \($0)"))) }
    }

    /// The session that can be used now; nil if there is none.
    private func session(for resource: ResourceAddress, refusing refused: Secret? = nil) async throws -> Session? {
        do {
            return try await keeper(for: resource).session(refusing: refused)
        } catch let error as SignInError
            where [.signedOut, .signInAgain, .unreadable].contains(error.kind)
        {
            return nil
        }
    }

    // MARK: Signing in

    public func answer(
        _ challenge: ResourceChallenge, to refused: RequestHead, for resource: ResourceAddress
    ) async throws -> Bool {
        let sent = Self.token(of: refused)
        if challenge.reason == .signIn, let sent, try await session(for: resource, refusing: sent) != nil {
            return true
        }
        // Of several requests that are refused together, one lets the user sign in.
        let (promise, isFirst) = state.withLock { state in
            if let promise = state.signIns[resource] { return (promise, false) }
            let promise = Promise<Void>()
            state.signIns[resource] = promise
            return (promise, true)
        }
        guard isFirst else {
            try await promise.value()
            return true
        }
        let result: Result<Void, any Error>
        do { result = .success(try await signIn(challenge, resource)) } catch {
            // The others need not end because this request was cancelled; they are refused again and ask again.
            result = error is CancellationError ? .success(()) : .failure(error)
            state.withLock { _ = $0.signIns.removeValue(forKey: resource) }
            promise.settle(with: result)
            throw error
        }
        state.withLock { _ = $0.signIns.removeValue(forKey: resource) }
        promise.settle(with: result)
        return true
    }

    private func signIn(_ challenge: ResourceChallenge, _ resource: ResourceAddress) async throws {
        try await ask.permit(resource)
        let former: ResourceCredential?
        do { former = try await store.credential(for: resource).map { try ResourceCredential(encoded: $0) } } catch let
            error as SignInError where error.kind == .unreadable
        {
            former = nil
        }
        let flow = ResourceFlow(identity: identity, client: client, now: now, ask: ask, clock: clock)
        let granted = challenge.reason == .moreScopes ? former?.scopes ?? [] : []
        let credential = try await flow.run(at: try HTTPURL(resource.text), challenge, granted: granted)
        store.learn(credential.session)
        try await store.exclusively(for: resource) { [store] in
            try await store.store(credential.encoded, for: resource)
        }
        try await keeper(for: resource).adopt(credential.session)
    }

    public func forget(_ resource: ResourceAddress) async throws -> Bool {
        let wasThere = try await store.credential(for: resource) != nil
        if wasThere {
            try await store.exclusively(for: resource) { [store] in try await store.remove(for: resource) }
        }
        // What it holds must not be used again, also if another process has removed the credential.
        await state.withLock { $0.keepers.removeValue(forKey: resource) }?.close()
        return wasThere
    }

    private static func token(of request: RequestHead) -> Secret? {
        let value = request.headers.last { $0.name.lowercased() == "authorization" }?.value
        return value?.withText { $0.hasPrefix("Bearer ") ? Secret(String($0.dropFirst("Bearer ".count))) : nil }
    }
}

/// Keeps the credentials for resources as secrets, one for each address.
public protocol ResourceStore: Sendable {
    /// The stored credential, or nil if there is none.
    func credential(for resource: ResourceAddress) async throws -> Secret?
    /// Replaces the stored credential.
    func store(_ credential: Secret, for resource: ResourceAddress) async throws
    /// Removes the stored credential.
    func remove(for resource: ResourceAddress) async throws
    /// Is told every token within a credential, to keep it out of logs.
    func learn(_ token: Secret)
    /// A mark that changes whenever a stored credential may have changed; nil when only reading finds out. It returns at
    /// once.
    func mark() throws -> SessionMark?
    /// Runs `body` while no other task or process runs another one for the same resource.
    func exclusively<Result: Sendable>(
        for resource: ResourceAddress, _ body: @Sendable () async throws -> Result
    ) async throws -> Result
}

extension ResourceStore {
    fileprivate func learn(_ session: Session) {
        learn(session.accessToken)
        if let token = session.refreshToken { learn(token) }
    }
}

/// The session within the stored credential of a resource.
private struct StoredResource: SessionSource {
    let resource: ResourceAddress
    let store: any ResourceStore
    let identity: ResourceClient
    let client: HTTPClient
    let now: @Sendable () -> Timestamp

    private func credential() async throws -> ResourceCredential? {
        guard let credential = try await store.credential(for: resource) else { return nil }
        let read = try ResourceCredential(encoded: credential)
        store.learn(read.session)
        // Once the settings name a client, what another one got is no longer used.
        guard try identity.uses(read, for: try HTTPURL(resource.text)) else { return nil }
        return read
    }

    func load() async throws -> Session? { try await credential()?.session }
    func mark() throws -> SessionMark? { try store.mark() }

    func store(_ session: Session) async throws {
        // Without the rest of the credential nobody could renew it.
        guard var credential = try await credential() else { return }
        store.learn(session)
        credential.session = session
        try await store.store(credential.encoded, for: resource)
    }

    func exclusively<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        try await store.exclusively(for: resource, body)
    }

    func renew(_ session: Session) async throws -> Session {
        guard var credential = try await credential() else {
            throw SignInError.refused("the session cannot be renewed; sign in again")
        }
        credential.session = session
        return try await credential.renewed(
            at: try HTTPURL(resource.text), as: identity, using: client, now: now)
    }
}
