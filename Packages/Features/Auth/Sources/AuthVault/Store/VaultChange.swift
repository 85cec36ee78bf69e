public import Capabilities

/// What becomes of one secret.
public enum VaultChange: Sendable {
    /// It stays, and nothing is written.
    case keep
    /// This takes its place.
    case store(Secret)
    /// It is forgotten.
    case remove
}

/// What opens the vault from now on.
public enum VaultNewKey: Sendable {
    /// A passphrase that the person is asked for.
    case ask
    case passphrase(Secret)
    /// No passphrase but a file that only its owner can read.
    case keyFile
}

/// How a vault is protected, without opening it.
public struct VaultStatus: Sendable, Hashable {
    public enum Form: String, Sendable {
        /// There is no vault yet.
        case none
        case passphrase
        case keyFile = "key-file"
    }

    public let path: String
    public let form: Form
    /// Whether it can be read without asking anybody.
    public let isOpen: Bool
}
