public import Capabilities
public import Cryptography

/// The location of a vault and how to unlock it.
public struct VaultSetup: Sendable {
    /// The folder with `vault`, its lock and the named locks.
    public var folder: String
    /// The key file of a vault without a passphrase.
    public var keyFile: String
    var passphrase: PassphraseSources
    /// Shows the user an important notice, such as the limits of a key file.
    public var notice: @Sendable (String) async -> Void
    /// How long the kernel keeps the key of an unlocked vault. Nil for not at all.
    public var keepUnlocked: Duration? = .seconds(8 * 3600)
    /// The cost of guessing a new passphrase.
    public var scrypt: Scrypt = .standard
    /// How long to wait while another program writes.
    public var patience: Duration = .seconds(30)
    /// The current time.
    public var now: @Sendable () -> Timestamp = Timestamp.now

    /// - Parameters:
    ///   - passphrase: where a passphrase comes from when the vault needs one.
    ///   - notice: shows the user an important notice.
    public init(
        folder: String, keyFile: String, passphrase: PassphraseSources,
        notice: @escaping @Sendable (String) async -> Void
    ) {
        self.folder = folder
        self.keyFile = keyFile
        self.passphrase = passphrase
        self.notice = notice
    }
}
