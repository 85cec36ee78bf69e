public import Capabilities
public import Cryptography
import Glibc

/// The location of a vault and how to unlock it.
public struct VaultSetup: Sendable {
    /// The folder with `vault`, its lock and the named locks.
    public var folder: String
    /// The key file of a vault without a passphrase.
    public var keyFile: String
    public var passphrase: PassphraseSources
    /// Shows the user an important notice, such as the limits of a key file.
    public var notice: @Sendable (String) async -> Void
    /// How long the kernel keeps the key of an unlocked vault. Nil for not at all.
    public var keepUnlocked: Duration? = .seconds(8 * 3600)
    /// The cost of guessing a new passphrase.
    public var scrypt: Scrypt = .standard
    /// How long to wait while another program writes.
    public var patience: Duration = .seconds(30)
    /// The current time.
    public var now: @Sendable () -> Timestamp = { .system }

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

extension Timestamp {
    fileprivate static var system: Timestamp {
        var time = timespec()
        // This cannot fail: the clock always exists and the pointer is valid.
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
