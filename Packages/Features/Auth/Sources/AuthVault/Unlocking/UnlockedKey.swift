import LoopKit
import Synchronization

/// The key of a vault that was unlocked, kept in memory and nowhere else. It is tried before anybody is asked.
public final class UnlockedKey: Sendable {
    let key = Mutex<VaultKey?>(nil)
    /// One task at a time asks for the passphrase.
    let opening = Turn()

    public init() {}
}
