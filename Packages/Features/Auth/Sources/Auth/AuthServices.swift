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

/// What the parts of Auth share. Making it opens nothing; each thing is opened when it is first used.
final class AuthServices: Sendable {
    let surroundings: Surroundings
    let profiles: ServerProfiles
    let database: Database
    let pins: PinStore
    let trust: PinnedTrust
    let vault: Vault
    /// Where secrets are kept, with those of the environment before them.
    let layered: LayeredSecretStore
    /// The same, and every secret that passes is known to the redactor.
    let secrets: RedactingSecretStore
    let preferences: Preferences
    private let settings: FeatureSettings
    private let state = Mutex(State())

    private struct State {
        var client: HTTPClient?
        var keepers: [String: SessionKeeper] = [:]
        var warned: Set<String> = []
    }

    init(settings: FeatureSettings, surroundings: Surroundings, unlocked: UnlockedKey) {
        self.surroundings = surroundings
        self.settings = settings
        profiles = ServerProfiles(settings)
        let locations = surroundings.locations
        database = Database("\(locations.data)/auth.db", migrations: AuthDatabase.migrations) {
            $0.tell(ActionContext.current?.notice)
        }
        pins = PinStore(database: database)
        trust = PinnedTrust(
            pins: pins, credentials: AuthSettings.credentials(settings, surroundings.environment), now: surroundings.now
        )
        preferences = Preferences(database: database)
        vault = Vault(Self.vaultSetup(settings, surroundings), unlocked: unlocked)
        let base: any KeptSecrets
        switch settings[AuthSettings.vault] {
        case .file: base = vault
        case .desktop: base = DesktopSecrets(environment: surroundings.environment)
        }
        layered = LayeredSecretStore(environment: surroundings.environment, over: base) { text in
            ActionContext.current?.notice(text)
        }
        secrets = RedactingSecretStore(layered, surroundings.redactor)
        if let passphrase = surroundings.environment[PassphraseSources.variable] {
            surroundings.redactor.learn(Secret(passphrase))
        }
    }

    private static func vaultSetup(_ settings: FeatureSettings, _ surroundings: Surroundings) -> VaultSetup {
        let sources = PassphraseSources(
            descriptor: settings[AuthSettings.passphraseDescriptor].map { Int32($0) },
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
        let kept = settings[AuthSettings.keepUnlocked]
        setup.keepUnlocked = kept > .zero ? kept : nil
        return setup
    }

    // MARK: Servers

    /// The client for everything that Auth asks of servers.
    var client: HTTPClient {
        state.withLock { state in
            if let client = state.client { return client }
            var configuration = HTTPClient.Configuration()
            configuration.trust = TrustDomain(trust)
            configuration.proxies = ProxySettings(environment: surroundings.environment)
            configuration.feature = "auth"
            configuration.now = surroundings.now
            if let tracer = ActionContext.current?.tracer { configuration.tracer = tracer }
            let client = HTTPClient(configuration)
            state.client = client
            return client
        }
    }

    /// The name under which this program is registered with the OpenID provider of a profile's server.
    func client(of profile: ServerProfile) -> String {
        settings.inProfile(profile.name)[AuthSettings.client]
    }

    /// The API of a profile's platform, with the credential of the profile or without.
    func api(of profile: ServerProfile, signed: Bool = true) throws(AuthError) -> KamiwazaAPI {
        guard profile.kind == .kamiwaza else {
            throw .notOffered("accounts; it is a \(profile.kind.name)", profile: profile.name)
        }
        var api = KamiwazaAPI(profile.url, client: client)
        if signed {
            api.credential = .signer(RequestSigner(ServerAuthenticator(services: self), for: ServerID(profile.name)))
        }
        return api
    }

    /// What gives requests to a profile's server a valid token.
    func keeper(for profile: ServerProfile) -> SessionKeeper {
        state.withLock { state in
            if let keeper = state.keepers[profile.name] { return keeper }
            let keeper = SessionKeeper(StoredSession(profile: profile, services: self), now: surroundings.now)
            state.keepers[profile.name] = keeper
            return keeper
        }
    }

    /// The key that stands in the environment for exactly this server.
    func environmentKey(for profile: ServerProfile) -> Secret? {
        guard let vendor = ModelVendor.named("kamiwaza"), profile.kind == .kamiwaza,
            let key = surroundings.environment[vendor.name.environmentVariable], !key.isEmpty
        else { return nil }
        guard let address = vendor.address(surroundings.environment) else {
            tellOnce(
                "\(vendor.name.environmentVariable) is not used, because \(vendor.addressVariable) does not say for which "
                    + "server it is; for this one set it to \(profile.url.text)")
            return nil
        }
        guard address.isSameOrigin(as: profile.url) else { return nil }
        let secret = Secret(key)
        surroundings.redactor.learn(secret)
        return secret
    }

    /// Says once that a personal access token is about to expire, while it can still be replaced.
    func warnOfExpiry(_ session: Session, _ profile: ServerProfile) {
        guard case .personal = session.kind, let expiry = session.expiry, let context = ActionContext.current else {
            return
        }
        let left = expiry - surroundings.now()
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

    /// Ends what is open. A renewal that is on its way is stored first.
    func close() async {
        let (client, keepers) = state.withLock { state in
            defer { (state.client, state.keepers) = (nil, [:]) }
            return (state.client, state.keepers.values)
        }
        for keeper in keepers { await keeper.close() }
        await client?.close()
        await database.close()
    }
}
