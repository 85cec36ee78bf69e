import Synchronization

/// The turns that this store has begun and not ended.
///
/// A turn whose end could not be stored, for want of space perhaps, does not block its session for as long as the
/// process lives: in this store only those count that are known here.
final class OpenTurns: Sendable {
    let holder: Holder
    private let ids = Mutex<Set<String>>([])

    init(holder: Holder) {
        self.holder = holder
    }

    func add(_ id: String) {
        ids.withLock { _ = $0.insert(id) }
    }

    func remove(_ id: String) {
        ids.withLock { _ = $0.remove(id) }
    }

    /// Whether a turn that was stored as begun runs.
    func isRunning(_ id: String, of holder: String) -> Bool {
        guard let holder = Holder(holder) else { return false }
        return holder == self.holder ? ids.withLock { $0.contains(id) } : holder.isAlive
    }
}
