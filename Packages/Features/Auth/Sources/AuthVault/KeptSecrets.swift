public import Capabilities

/// A store that secrets can be written to, and that tells when each was changed.
public protocol KeptSecrets: SecretStore {
    /// What kind of place it is.
    var source: SecretSource { get }
    /// All that is kept, sorted by name, without the secrets.
    func entries() async throws -> [SecretEntry]
}

/// The name of a secret that is kept.
public struct SecretEntry: Sendable, Hashable {
    public let name: SecretName
    /// When it was last stored, where that is known.
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
    /// The desktop's keyring.
    case desktop

    /// As a list shows it.
    public var name: String {
        switch self {
        case .environment: "environment"
        case .systemd: "systemd"
        case .vault: "vault"
        case .desktop: "desktop"
        }
    }
}
