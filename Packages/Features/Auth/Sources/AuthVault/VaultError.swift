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
    public typealias Kind = FailureKind<VaultError>

    static func cut(_ path: String) -> VaultError {
        VaultError(
            .cut, "the end of the vault \(path) is missing; restore it from a backup, or move it away to start over")
    }

    static func damaged(_ path: String) -> VaultError {
        VaultError(
            .damaged, "the vault \(path) is damaged; restore it from a backup, or move it away to start over")
    }

    static func parameters(_ path: String) -> VaultError {
        VaultError(
            .parameters,
            "the vault \(path) demands more work than is safe, so it is not opened; restore it from a backup")
    }

    static func desktop(_ reason: String) -> VaultError {
        VaultError(
            .desktop,
            "the desktop keyring failed: \(PlainText.escape(reason)); try again, or use the encrypted file: martlet "
                + "config set auth.vault file")
    }

    static var stillLocked: VaultError {
        VaultError(
            .locked,
            "the desktop keyring is locked; unlock it and try again, or use the encrypted file: martlet "
                + "config set auth.vault file")
    }
}

/// The reasons of a `VaultError`.
extension FailureKind<VaultError> {
    /// The file is not a vault.
    public static var notVault: Self { "auth.vault.not-a-vault" }
    /// A newer program version wrote the file.
    public static var newer: Self { "auth.vault.newer" }
    /// The end of the file is missing.
    public static var cut: Self { "auth.vault.cut" }
    /// The file was changed, most likely by accident.
    public static var damaged: Self { "auth.vault.damaged" }
    /// The sealed part was changed by someone without the key.
    public static var changed: Self { "auth.vault.changed" }
    /// The file demands more work or memory than is safe.
    public static var parameters: Self { "auth.vault.parameters" }
    /// The passphrase is wrong.
    public static var wrongPassphrase: Self { "auth.vault.wrong-passphrase" }
    /// A passphrase is needed, but nobody is there to give it.
    public static var unanswered: Self { "auth.vault.unanswered" }
    /// A passphrase could not be read from its source, or was not repeated correctly.
    public static var passphrase: Self { "auth.vault.passphrase" }
    /// The key file is missing, accessible to others, or does not belong to the vault.
    public static var keyFile: Self { "auth.vault.key-file" }
    /// The name is not valid for a secret.
    public static var name: Self { "auth.vault.name" }
    /// The secret is empty or too large, or there are too many secrets.
    public static var size: Self { "auth.vault.size" }
    /// Another program keeps the vault locked.
    public static var busy: Self { "auth.vault.busy" }
    /// The desktop keyring stayed locked.
    public static var locked: Self { "auth.vault.locked" }
    /// The desktop keyring failed.
    public static var desktop: Self { "auth.vault.desktop" }
}
