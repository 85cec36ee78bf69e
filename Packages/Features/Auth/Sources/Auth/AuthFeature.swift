import AuthVault
import Capabilities
import Cryptography
import HTTPClient
public import Registry
public import Settings
import StorageKit

/// Credentials and trust: secrets in a vault, pinned certificates, servers with accounts, access tokens.
public struct AuthFeature: Feature {
    public static let manifest = Manifest(
        id: "auth", summary: "Servers, sign-in, secrets and certificates", version: "0.1.0",
        provides: [
            .single((any SecretStore).self), .single((any TrustStore).self), .single((any Authenticator).self),
            .shared((any DataStore).self), .shared((any ServerList).self),
        ],
        needs: [.one((any SettingsWriter).self)],
        settings: AuthSettings.declarations,
        groups: [
            "auth.pat": "Personal access tokens, for places where nobody can sign in",
            "auth.secret": "Keys and other secrets, kept encrypted on this machine",
            "auth.server": "The servers that you use, by names of yours",
            "auth.trust": "Certificates that you accepted for single servers",
        ],
        variables: [PassphraseSources.variable: "The passphrase of the vault"])

    private let settings: FeatureSettings

    public init(_ settings: FeatureSettings) {
        self.settings = settings
    }

    public func register(in registry: inout RegistryBuilder) {
        // Nobody is asked for a passphrase again because some setting has changed.
        let unlocked = registry.shared("unlocked key") { UnlockedKey() }
        let services = AuthServices(settings: settings, surroundings: registry.surroundings, unlocked: unlocked)
        // A renewal which is on its way is stored before the program ends.
        registry.closes(services.close)
        registry.provide((any SecretStore).self, services.secrets)
        registry.provide((any TrustStore).self, services.trust)
        registry.provide((any Authenticator).self, ServerAuthenticator(services: services))
        registry.provide((any ServerList).self, services.profiles)
        registry.provide(
            (any DataStore).self,
            DatabaseStore(
                id: "auth.database", summary: "Pinned certificates and what is remembered of sign-ins",
                database: services.database))
        registry.provide((any DataStore).self, VaultData(vault: services.vault))
        registry.uses(
            Library("libcurl") {
                HTTPClient.libraryVersion
            } installed: {
                try HTTPClient.installedLibraryVersion()
            })
        registry.uses(
            Library("libssl") {
                Digest.libraryVersion
            } installed: {
                try Digest.installedLibraryVersion()
            })
        registry.uses(Library("libsqlite3") { Database.libraryVersion })
        registry.add(AuthChecks.vault(services))
        let groups = [
            ServerActions(services).all, SignInActions(services).all, TokenActions(services).all,
            SecretActions(services).all, TrustActions(services).all,
        ]
        for action in groups.joined() { registry.add(action) }
    }
}

/// What `doctor` asks about Auth.
enum AuthChecks {
    static func vault(_ services: AuthServices) -> HealthCheck {
        HealthCheck("auth.vault", "the vault with the secrets") { host in
            do {
                let status = try services.vault.status()
                // What every command that uses a secret would refuse is told here, too.
                try services.vault.checkKeyFile()
                switch status.form {
                case .none: return .ok("not there yet; the first secret makes it")
                case .keyFile: return .ok("\(status.path), opened by a key file")
                case .passphrase: return .ok("\(status.path), protected by a passphrase")
                }
            } catch let error as VaultError where error.kind == .keyFile {
                return .failure(error.message, mend: "mend the key file as it is said, or restore both from one backup")
            } catch {
                return .failure(
                    AnyFailure(error).message, mend: "restore a copy with 'martlet data restore', or move the file away"
                )
            }
        }
    }
}
