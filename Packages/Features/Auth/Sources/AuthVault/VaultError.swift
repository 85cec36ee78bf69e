public import Capabilities

/// Why secrets could not be read, kept or unlocked. No secret and no part of one is ever in it.
public struct VaultError: Failure, Hashable {
    /// The stable reason, to be compared with `==`.
    public let kind: Kind
    /// A sentence for a person: what happened and what to do next.
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

        /// The file is something else.
        public static let notVault = Kind("not-a-vault")
        /// A newer program wrote the file.
        public static let newer = Kind("newer")
        /// The end of the file is missing.
        public static let cut = Kind("cut")
        /// The file is not as it was written, most likely by accident.
        public static let damaged = Kind("damaged")
        /// Somebody changed the sealed part.
        public static let changed = Kind("changed")
        /// The file asks for more work or memory than is safe.
        public static let parameters = Kind("parameters")
        /// The passphrase is not the vault's.
        public static let wrongPassphrase = Kind("wrong-passphrase")
        /// A passphrase is needed and nobody is there to give it.
        public static let unanswered = Kind("unanswered")
        /// A passphrase could not be taken from where it was to come from, or was not repeated.
        public static let passphrase = Kind("passphrase")
        /// The key file is missing, open to others or not the vault's.
        public static let keyFile = Kind("key-file")
        /// A name that no secret can have.
        public static let name = Kind("name")
        /// A secret too large or empty, or too many of them.
        public static let size = Kind("size")
        /// Another program does not let go of the vault.
        public static let busy = Kind("busy")
        /// The desktop's keyring stayed locked.
        public static let locked = Kind("locked")
        /// The desktop's keyring failed.
        public static let desktop = Kind("desktop")
    }
}
