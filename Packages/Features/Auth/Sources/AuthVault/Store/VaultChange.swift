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

/// What a write does to the secrets, once they are read under the lock.
///
/// It is a value and not a closure, because the optimiser of Swift 6.3 crashes when it copies the long asynchronous
/// function that takes it for each closure given to it.
enum VaultEdit: Sendable {
    case storeAll([(name: SecretName, secret: Secret)], Timestamp)
    case decide(SecretName, @Sendable (Secret?) throws -> VaultChange, Timestamp)

    /// The secrets afterwards, or nil when they stay as they are.
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
