import AuthVault
import Capabilities
import Cryptography
import HTTPClient
public import Registry
public import Settings
import StorageKit

/// Credentials and trust: secrets in a vault, pinned certificates, servers with their sign-ins, access tokens.
public struct AuthFeature: Feature {
    public static let manifest = Manifest(
        id: "auth", summary: "Servers, sign-in, secrets and certificates", version: "0.1.0",
        provides: [
            .single((any SecretStore).self), .single((any TrustStore).self), .single((any Authenticator).self),
            .single((any ResourceSignIn).self),
            .shared((any DataStore).self), .shared((any ServerList).self),
        ],
        needs: [.one((any SettingsWriter).self)],
        settings: AuthSettings.declarations,
        groups: [
            "auth.pat": "Personal access tokens, for scripts and services",
            "auth.secret": "Keys and other secrets, stored encrypted on this machine",
            "auth.server": "The servers you use, under names you choose",
            "auth.trust": "Certificates you accepted for individual servers",
        ],
        variables: [PassphraseSources.variable: "The passphrase of the vault"])

    private let settings: FeatureSettings

    public init(_ settings: FeatureSettings) {
        self.settings = settings
    }

    public func register(in registry: inout RegistryBuilder) {
        // Shared across settings changes, so that a change does not ask for the passphrase again.
        let unlocked = registry.shared("unlocked key") { UnlockedKey() }
        let services = AuthServices(settings: settings, surroundings: registry.surroundings, unlocked: unlocked)
        // A renewal in progress is stored before the program ends.
        registry.closes(services.close)
        registry.provide((any SecretStore).self, services.secrets)
        registry.provide((any TrustStore).self, services.trust)
        registry.provide((any Authenticator).self, ServerAuthenticator(services: services))
        registry.provide((any ResourceSignIn).self, ResourceAuthenticator(services: services))
        registry.provide((any ServerList).self, services.profiles)
        registry.provide(
            (any DataStore).self,
            DatabaseStore(
                id: "auth.database", summary: "Pinned certificates and sign-in preferences",
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
        AuthScreens(services).add(to: &registry)
    }
}

/// The checks of `doctor` for Auth.
enum AuthChecks {
    static func vault(_ services: AuthServices) -> HealthCheck {
        HealthCheck("auth.vault", "the vault that holds the secrets") { host in
            do {
                let status = try services.vault.status()
                // Reports the same key file problems as any command that uses a secret.
                try services.vault.checkKeyFile()
                switch status.form {
                case .none: return .ok("does not exist yet; storing the first secret creates it")
                case .keyFile: return .ok("\(status.path), opened by a key file")
                case .passphrase: return .ok("\(status.path), protected by a passphrase")
                }
            } catch let error as VaultError where error.kind == .keyFile {
                return .failure(
                    error.message, mend: "fix the key file as described, or restore both from the same backup")
            } catch {
                return .failure(
                    AnyFailure(error).message,
                    mend: "restore a backup with 'martlet data restore', or move the file away"
                )
            }
        }
    }
}
