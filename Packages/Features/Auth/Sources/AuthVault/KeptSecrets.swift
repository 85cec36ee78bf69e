public import Capabilities

/// A store for secrets that also reports when each was changed.
public protocol KeptSecrets: SecretStore {
    /// The kind of store.
    var source: SecretSource { get }
    /// All entries, sorted by name, without the secrets.
    func entries() async throws -> [SecretEntry]
}

/// The name of a stored secret.
public struct SecretEntry: Sendable, Hashable {
    /// The name that the secret is stored under.
    public let name: SecretName
    /// When it was last stored, if known.
    public let changed: Timestamp?
}

/// Where a secret comes from.
public enum SecretSource: Sendable, Hashable {
    /// The environment variable of that name.
    case environment(variable: String)
    /// A credential that systemd gave to the service.
    case systemd
    /// The encrypted file.
    case vault
    /// The desktop keyring.
    case desktop

    /// The name in lists.
    public var name: String {
        switch self {
        case .environment: "environment"
        case .systemd: "systemd"
        case .vault: "vault"
        case .desktop: "desktop"
        }
    }

    var words: String {
        switch self {
        case .environment(let variable): "the one in the environment (\(variable))"
        case .systemd: "the one from systemd"
        case .vault, .desktop: "the stored one"
        }
    }
}
