public import Capabilities
public import Cryptography
import Glibc

/// Where a vault is and how it is unlocked.
public struct VaultSetup: Sendable {
    /// The folder that holds `vault`, its lock and the named locks.
    public var folder: String
    /// The key file of the form without a passphrase.
    public var keyFile: String
    public var passphrase: PassphraseSources
    /// Tells the person something that matters once, such as what a key file does not protect from.
    public var notice: @Sendable (String) async -> Void
    /// How long the kernel keeps the key of a vault that was unlocked; nil for not at all.
    public var keepUnlocked: Duration? = .seconds(8 * 3600)
    /// How expensive guessing a new passphrase is made.
    public var scrypt: Scrypt = .standard
    /// How long to wait while another program writes.
    public var patience: Duration = .seconds(30)
    /// What time it is.
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
        // This clock exists always and the pointer is valid, so it cannot fail.
        _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
