import AuthSignIn
import AuthTrust
import AuthVault
import Capabilities
import HTTPClient
import KamiwazaKit
import Registry
import Settings
import StorageKit
import Synchronization

/// What the parts of Auth share. Creating it opens nothing; each part is opened on first use.
final class AuthServices: Sendable {
    let surroundings: Surroundings
    let profiles: ServerProfiles
    let database: Database
    let pins: PinStore
    let trust: PinnedTrust
    let vault: Vault
    /// The stored secrets, overlaid by those from the environment.
    let layered: LayeredSecretStore
    /// The same store; it also registers every secret that passes through it with the redactor.
    let secrets: RedactingSecretStore
    let preferences: Preferences
    private let settings: FeatureSettings
    private let state = Mutex(State())

    /// Removes secrets from everything that is logged, traced and printed.
    var redactor: Redactor { surroundings.redactor }
    /// Returns the current time.
    var now: @Sendable () -> Timestamp { surroundings.now }

    private struct State {
        var client: HTTPClient?
        var keepers: [String: SessionKeeper] = [:]
        var resources: ResourceSessions?
        var warned: Set<String> = []
    }

    init(settings: FeatureSettings, surroundings: Surroundings, unlocked: UnlockedKey) {
        self.surroundings = surroundings
        self.settings = settings
        profiles = ServerProfiles(settings)
        let locations = surroundings.locations
        database = Database("\(locations.data)/auth.db", migrations: AuthDatabase.migrations) {
            $0.tell(ActionContext.current?.warn)
        }
        pins = PinStore(database: database)
        trust = PinnedTrust(
            pins: pins, credentials: AuthSettings.credentials(settings, surroundings.environment), now: surroundings.now
        )
        preferences = Preferences(database: database)
        let own = AuthSettings(reading: settings)
        vault = Vault(Self.vaultSetup(own, surroundings), unlocked: unlocked)
        let base: any KeptSecrets
        switch own.vault {
        case .file: base = vault
        case .desktop: base = DesktopSecrets(environment: surroundings.environment)
        }
        layered = LayeredSecretStore(environment: surroundings.environment, over: base) { text in
            ActionContext.current?.warn(text)
        }
        secrets = RedactingSecretStore(layered, surroundings.redactor)
        if let passphrase = surroundings.environment[PassphraseSources.variable] {
            surroundings.redactor.learn(Secret(passphrase))
        }
    }

    private static func vaultSetup(_ settings: AuthSettings, _ surroundings: Surroundings) -> VaultSetup {
        let sources = PassphraseSources(
            descriptor: settings.passphraseDescriptor.map { Int32($0) },
            environment: surroundings.environment
        ) { question in
            guard let interaction = ActionContext.current?.interaction else { return nil }
            do {
                let answer = try await interaction.secret(question.id, question.prompt)
                surroundings.redactor.learn(answer)
                return answer
            } catch InteractionError.unanswered {
                return nil
            }
        }
        var setup = VaultSetup(
            folder: surroundings.locations.data, keyFile: surroundings.locations.config + "/vault.key",
            passphrase: sources
        ) { text in
            ActionContext.current?.notice(text)
        }
        setup.now = surroundings.now
        setup.keepUnlocked = settings.keepUnlocked > .zero ? settings.keepUnlocked : nil
        return setup
    }

    // MARK: Servers

    /// The HTTP client for all of Auth's requests to servers.
    var client: HTTPClient {
        state.withLock { state in
            if let client = state.client { return client }
            var configuration = HTTPClient.Configuration()
            configuration.trust = TrustDomain(trust)
            configuration.proxies = ProxySettings(environment: surroundings.environment)
            configuration.feature = "auth"
            configuration.now = now
            if let tracer = ActionContext.current?.tracer { configuration.tracer = tracer }
            let client = HTTPClient(configuration)
            state.client = client
            return client
        }
    }

    /// The client id of this program at the OpenID provider of a profile's server.
    func client(of profile: ServerProfile) -> String {
        AuthSettings(reading: settings.inProfile(profile.name)).client
    }

    /// The API of a profile's platform. Requests carry the profile's credential when `signed` is true.
    func api(of profile: ServerProfile, signed: Bool = true) throws(AuthError) -> KamiwazaAPI {
        guard profile.kind == .kamiwaza else {
            throw .notOffered("accounts (kind: \(profile.kind.name))", profile: profile.name)
        }
        var api = KamiwazaAPI(profile.url, client: client)
        if signed {
            api.credential = .signer(RequestSigner(ServerAuthenticator(services: self), for: ServerID(profile.name)))
        }
        return api
    }

    /// Keeps the session for a profile's server valid.
    func keeper(for profile: ServerProfile) -> SessionKeeper {
        state.withLock { state in
            if let keeper = state.keepers[profile.name] { return keeper }
            let keeper = SessionKeeper(StoredSession(profile: profile, services: self), now: now)
            state.keepers[profile.name] = keeper
            return keeper
        }
    }

    /// Changes whenever a stored secret may have changed.
    func vaultMark() throws -> SessionMark? {
        // The desktop keyring reports changes only by reading the secret.
        guard layered.kept is Vault else { return nil }
        return SessionMark(try vault.mark())
    }

    /// The sessions at resources that are no servers of profiles.
    var resources: ResourceSessions {
        let client = client
        return state.withLock { state in
            if let resources = state.resources { return resources }
            let resources = ResourceSessions(
                in: VaultResources(services: self), as: resourceClient, client: client, now: now, ask: .current(self))
            state.resources = resources
            return resources
        }
    }

    /// How this program is known to the servers that sign in the users of resources.
    private var resourceClient: ResourceClient {
        // A resource belongs to no profile.
        let own = AuthSettings(reading: settings.inProfile(""))
        return ResourceClient(name: "Martlet", known: own.resourceClients, document: own.clientDocument) {
            [secrets] name in
            try await secrets.secret(named: name)
        }
    }

    /// The browser of this machine.
    var browser: Browser { Browser(environment: surroundings.environment) }

    /// The key in the environment that belongs to exactly this server.
    func environmentKey(for profile: ServerProfile) -> Secret? {
        let vendor = ModelVendor.kamiwaza
        guard profile.kind == .kamiwaza,
            let key = surroundings.environment[vendor.name.environmentVariable], !key.isEmpty
        else { return nil }
        guard let address = vendor.address(in: surroundings.environment) else {
            let variable = vendor.name.addressVariable
            tellOnce(
                "\(vendor.name.environmentVariable) is ignored because \(variable) does not name its server; to use it "
                    + "here, set \(variable) to \(profile.url.text)")
            return nil
        }
        guard address.isSameOrigin(as: profile.url) else { return nil }
        let secret = Secret(key)
        redactor.learn(secret)
        return secret
    }

    /// Warns once when a personal access token is about to expire, while it can still be replaced.
    func warnOfExpiry(_ session: Session, _ profile: ServerProfile) {
        guard case .personal = session.kind, let expiry = session.expiry, let context = ActionContext.current else {
            return
        }
        let left = expiry - now()
        guard left < .seconds(14 * 86_400), state.withLock({ $0.warned.insert(profile.name).inserted }) else { return }
        context.notice(
            left > .zero
                ? "the access token for \(profile.name) expires on \(expiry.iso8601.prefix(10)); replace it: "
                    + "martlet auth pat rotate \(profile.name)"
                : "the access token for \(profile.name) has expired; sign in again: martlet auth login \(profile.name)")
    }

    private func tellOnce(_ text: String) {
        guard let context = ActionContext.current, state.withLock({ $0.warned.insert(text).inserted }) else { return }
        context.notice(text)
    }

    /// Closes everything that is open. A renewal in progress is stored first.
    func close() async {
        let (client, keepers, resources) = state.withLock { state in
            defer { (state.client, state.keepers, state.resources) = (nil, [:], nil) }
            return (state.client, state.keepers.values, state.resources)
        }
        await resources?.close()
        for keeper in keepers { await keeper.close() }
        await client?.close()
        await database.close()
    }
}

extension AuthServices {
    /// The profile to sign in to. An address that no profile has is added as a new profile.
    func profile(forLogin server: String?, _ context: ActionContext) async throws -> ServerProfile {
        guard let server, !profiles.names.contains(server) else { return try profiles.chosen(server) }
        guard server.contains(".") || server.contains(":") || server.contains("/") else {
            throw AuthError.unknownProfile(server, known: profiles.names)
        }
        let address = try KamiwazaAddress(server)
        for name in profiles.names {
            let profile = try profiles.profile(named: name)
            if profile.url.isSameOrigin(as: address.url) { return profile }
        }
        let name = freeName(ServerProfile.name(for: address.url))
        let profile = try await add(name, server, nil, use: false, context)
        context.notice("\(profile.url.server) was added as '\(name)'")
        return profile
    }

    /// The name, or a variant of it if another server already has that name.
    private func freeName(_ name: String) -> String {
        let taken = Set(profiles.names)
        var (free, number) = (name, 1)
        while taken.contains(free) {
            number += 1
            free = "\(name.prefix(60))-\(number)"
        }
        return free
    }

    /// The stored session for a server, in any state.
    func session(of profile: ServerProfile) async throws -> Session? {
        try await StoredSession(profile: profile, services: self).load()
    }

    /// Throws when there is no credential to sign requests with.
    func requireCredential(_ profile: ServerProfile) async throws {
        if environmentKey(for: profile) != nil { return }
        guard try await session(of: profile) != nil else { throw AuthError.noToken(profile.name) }
    }

    /// Signs out. Revokes the token before removing the credentials, because revoking needs them.
    func signOut(_ profile: ServerProfile, _ context: ActionContext) async throws {
        if environmentKey(for: profile) != nil {
            context.notice("KAMIWAZA_API_KEY is still set in the environment and will still be used")
        }
        do {
            if let session = try await session(of: profile), profile.kind == .kamiwaza {
                try await tellServer(of: profile, that: session, context)
            }
        } catch let error as SignInError where error.kind == .unreadable {
            // An unreadable session cannot be revoked, but it is removed like any other.
            context.notice("the stored session could not be read, so nothing was revoked at the server")
        }
        try await forgetCredentials(of: profile)
    }

    private func tellServer(of profile: ServerProfile, that session: Session, _ context: ActionContext) async throws {
        if case .personal(nil, _) = session.kind {
            context.notice(
                "the access token has no id, so it was not revoked and stays valid at \(profile.url.server); revoke it "
                    + "there")
        }
        do {
            // Anyone with a copy of the refresh token can renew an expired session, so it is renewed here and then
            // ended.
            let page = try await end(try await keeper(for: profile).session(), at: profile)
            if let page { context.notice("To sign your browser out as well, open:\n  \(PlainText.escape(page))") }
        } catch let error as SignInError where error.kind == .signInAgain {
            // The server no longer has this session, which is the goal.
        } catch let error as any Failure {
            // An unreachable server must not prevent signing out here, but the user must learn what is left there.
            context.notice(
                "\(error.message)\nYou are signed out here, but the token may stay valid at \(profile.url.server) "
                    + "until it expires; revoke it there")
        }
    }

    // MARK: What is left at a server

    /// Opens the session store before a server issues a token, so that no token is issued that cannot be stored.
    func openSecrets(for profile: ServerProfile) async throws {
        _ = try await layered.kept.secret(named: profile.sessionName)
    }

    /// Stores a new session and returns the one that it replaces. A session that cannot be stored is ended at the
    /// server, because nobody could use it.
    func adopt(_ session: Session, for profile: ServerProfile, _ context: ActionContext) async throws -> Session? {
        do {
            return try await keeper(for: profile).adopt(session)
        } catch {
            await discard(session, of: profile, context)
            throw error
        }
    }

    /// Ends a session that this program got from the server and that is no longer stored. A failure is reported as a
    /// notice. A token that the user supplied is left alone, because other programs may use it.
    func discard(_ session: Session, of profile: ServerProfile, _ context: ActionContext) async {
        guard profile.kind == .kamiwaza, session.isMadeHere, !session.hasEnded else { return }
        // If this were cancelled with the sign-in, the session would stay valid at the server.
        await shielded { [self] in
            do {
                _ = try await end(session, at: profile)
            } catch let error as KamiwazaError where error.kind == .sessionEnded {
                // It has already ended.
            } catch {
                context.notice(
                    "\(AnyFailure(error).message)\n\(session.words) that is no longer used may stay valid at "
                        + "\(profile.url.server) until it expires; revoke it there")
            }
        }
    }

    /// Ends a session at its server. Returns the page that ends the browser's session, if there is one. A personal
    /// token is revoked first, while there is still a credential for that. Errors are thrown after every step was
    /// tried.
    private func end(_ session: Session, at profile: ServerProfile) async throws -> String? {
        var api = try api(of: profile, signed: false)
        var token = session.accessToken
        if session.canBeRenewed, session.isStale(at: now()), let refreshToken = session.refreshToken {
            token = try await api.refresh(refreshToken).accessToken
        }
        api.credential = .bearer(token)
        var failure: (any Error)?
        if case .personal(let id?, _) = session.kind {
            do {
                try await api.revokePersonalToken(id)
            } catch let error as KamiwazaError where error.kind == .notFound || error.kind == .signInAgain {
                // It has already been revoked.
            } catch {
                failure = error
            }
        }
        do {
            let ended = try await api.logOut()
            if let failure { throw failure }
            return ended.browserURL
        } catch let error as KamiwazaError where error.kind == .signInAgain {
            // The server no longer has this session, which is the goal.
            if let failure { throw failure }
            return nil
        } catch {
            throw failure ?? error
        }
    }

    /// The state of the credential for a server, without a request to the server.
    func status(of profile: ServerProfile) async throws -> StatusRow {
        var row = StatusRow(profile, inUse: profiles.inUse == profile.name)
        if environmentKey(for: profile) != nil {
            (row.state, row.credential) = (.signedIn, "environment")
            return row
        }
        guard let session = try await session(of: profile) else {
            // Only the server knows whether it needs a key.
            if profile.kind == .openai { row.state = .noKey }
            return row
        }
        row.user = session.userName
        row.expires = session.expiry
        switch session.kind {
        case .tokens: row.credential = "session"
        case .personal: row.credential = "access token"
        }
        let isOver = session.expiry.map { $0 <= now() } ?? false
        row.state = session.hasEnded || (isOver && !session.canBeRenewed) ? .expired : .signedIn
        warnOfExpiry(session, profile)
        return row
    }
}

extension Session {
    /// Whether this program got it from the server, rather than from the user.
    fileprivate var isMadeHere: Bool {
        if case .personal(_, let name) = kind { name != nil } else { true }
    }

    fileprivate var words: String { kind == .tokens ? "a session" : "an access token" }
}

/// The tables of Auth. None of them holds a secret.
enum AuthDatabase {
    static let migrations = PinStore.migrations + Preferences.migrations
}
