import CSQLite
import Glibc

/// What SQLite asks while a statement runs or waits for a lock: whether to go on.
///
/// `sqlite3_interrupt` would stop whatever runs at that moment, perhaps the statement of the next caller. A question
/// that each piece of work answers for itself cannot hit another one. It is used on the connection's thread only.
@safe
final class Watch {
    /// How long a statement waits for the locks of others.
    let limit: Duration
    /// Who may stop the work that is being done.
    var cancellation: Cancellation?
    /// While a transaction ends nothing stops it, so that it ends the way it was decided.
    var isDeaf = false
    private var waitsSince = ContinuousClock.now

    init(limit: Duration) {
        self.limit = limit
    }

    var isCancelled: Bool { !isDeaf && cancellation?.isWanted == true }

    /// A deaf watch for the length of `body`.
    func undisturbed<T>(_ body: () throws -> T) rethrows -> T {
        let before = isDeaf
        isDeaf = true
        defer { isDeaf = before }
        return try body()
    }

    /// Asks this watch from now on; it has to live as long as the connection.
    func attach(to connection: OpaquePointer) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        // About every 50 µs of work; asking costs nothing that could be measured.
        unsafe sqlite3_progress_handler(
            connection, 2000,
            { context in
                guard let context = unsafe context else { return 0 }
                return unsafe Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue().isCancelled ? 1 : 0
            }, context)
        unsafe sqlite3_busy_handler(
            connection,
            { context, count in
                guard let context = unsafe context else { return 0 }
                let watch = unsafe Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue()
                return watch.waits(again: count > 0) ? 1 : 0
            }, context)
    }

    /// Sleeps a little before the next try for a lock; false when there is to be no other try.
    func waits(again: Bool) -> Bool {
        if !again { waitsSince = .now }
        let waited = ContinuousClock.now - waitsSince
        guard !isCancelled, waited < limit else { return false }
        // Short at first, for transactions are short, and of random length, so that waiters do not march in step.
        let longest = min(max(waited / 4, .microseconds(200)), .milliseconds(20))
        usleep(UInt32.random(in: 100...UInt32(longest / .microseconds(1))))
        return true
    }
}
