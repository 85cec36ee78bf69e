public import Capabilities

/// The change of one secret.
public enum VaultChange: Sendable {
    /// Keep it and write nothing.
    case keep
    /// Replace it with this secret.
    case store(Secret)
    /// Remove it.
    case remove
}

/// The new key of a vault.
public enum VaultNewKey: Sendable {
    /// Ask the user for a passphrase.
    case ask
    case passphrase(Secret)
    /// A key file that only its owner can read, instead of a passphrase.
    case keyFile
}

/// How a vault is protected, without opening it.
public struct VaultStatus: Sendable, Hashable {
    /// What opens the vault.
    public enum Form: String, Sendable {
        /// There is no vault yet.
        case none
        case passphrase
        case keyFile = "key-file"
    }

    /// The file of the vault, whether or not it exists.
    public let path: String
    /// What opens it; `.none` while there is no vault.
    public let form: Form
    /// Whether it can be read without asking for a passphrase.
    public let isOpen: Bool
}

/// A change of the secrets, applied after they were read under the lock.
///
/// It is a value, not a closure. Given closures, the optimiser of Swift 6.3 specialises a long asynchronous function
/// for each of them, and crashes.
enum VaultEdit: Sendable {
    case storeAll([(name: SecretName, secret: Secret)], Timestamp)
    case decide(SecretName, @Sendable (Secret?) throws -> VaultChange, Timestamp)

    /// The secrets after the change, or nil when nothing changes.
    func applied(to before: VaultContent) throws -> VaultContent? {
        var content = before
        switch self {
        case .storeAll(let secrets, let now):
            for (name, secret) in secrets { try content.store(secret, named: name, at: now) }
        case .decide(let name, let decide, let now):
            switch try decide(before[name]) {
            case .keep: return nil
            case .remove: content.remove(name)
            case .store(let secret):
                try SecretRules.check(secret, for: name)
                try content.store(secret, named: name, at: now)
            }
        }
        return content
    }
}
