import CLoopKit
import Glibc

/// A semaphore of the system, for a thread that waits without a task.
@safe final class Bell: @unchecked Sendable {
    // Safe to share: a POSIX semaphore may be used by several threads, and it never moves.
    private let semaphore: UnsafeMutablePointer<sem_t>

    init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe semaphore.initialize(to: sem_t())
        unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    func ring() {
        unsafe sem_post(semaphore)
    }

    func wait() {
        while unsafe sem_wait(semaphore) != 0 {}
    }

    /// Returns whether it rang in time.
    func wait(for limit: Duration) -> Bool {
        // A day is longer than any thread is kept waiting, and far from what the sum with the time could not hold.
        let nanoseconds = max(.zero, min(limit, .seconds(86_400))) / .nanoseconds(1)
        return unsafe loopkit_semaphore_wait(semaphore, Int64(nanoseconds)) == 0
    }
}
