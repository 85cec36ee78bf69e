public import Capabilities

/// Why secrets could not be read, stored or unlocked. It never contains any part of a secret.
public struct VaultError: Failure, Hashable {
    /// The stable reason, to compare with `==`.
    public let kind: Kind
    /// What happened and what to do next.
    public let message: String

    public var code: String { kind.description }

    public var exit: ExitCode {
        switch kind {
        case .wrongPassphrase, .keyFile, .changed, .locked: .denied
        case .unanswered: .unanswered
        case .name, .size, .passphrase: .usage
        default: .failed
        }
    }

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// A stable reason for a failure; new ones may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The dotted form for programs: "auth.vault.cut".
        public let description: String

        private init(_ name: String) {
            description = "auth.vault.\(name)"
        }

        /// The file is not a vault.
        public static let notVault = Kind("not-a-vault")
        /// A newer program version wrote the file.
        public static let newer = Kind("newer")
        /// The end of the file is missing.
        public static let cut = Kind("cut")
        /// The file was changed, most likely by accident.
        public static let damaged = Kind("damaged")
        /// The sealed part was changed by someone without the key.
        public static let changed = Kind("changed")
        /// The file demands more work or memory than is safe.
        public static let parameters = Kind("parameters")
        /// The passphrase is wrong.
        public static let wrongPassphrase = Kind("wrong-passphrase")
        /// A passphrase is needed, but there is no terminal to ask for it.
        public static let unanswered = Kind("unanswered")
        /// A passphrase could not be read from its source, or was not repeated correctly.
        public static let passphrase = Kind("passphrase")
        /// The key file is missing, accessible to others, or does not belong to the vault.
        public static let keyFile = Kind("key-file")
        /// The name is not valid for a secret.
        public static let name = Kind("name")
        /// The secret is empty or too large, or there are too many secrets.
        public static let size = Kind("size")
        /// Another program keeps the vault locked.
        public static let busy = Kind("busy")
        /// The desktop keyring stayed locked.
        public static let locked = Kind("locked")
        /// The desktop keyring failed.
        public static let desktop = Kind("desktop")
    }
}
