import Glibc
import Synchronization

/// Runs the jobs of tasks that prefer it on one thread of its own, where they may block.
///
/// The thread stays until `end`. Jobs that come after it run on the threads that all tasks share: there they must not
/// block, but that is better than never.
public final class OwnThreadExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isEnded = false
    }

    private let state = Mutex(State())
    /// Counts the jobs, and the end.
    private let bell = Bell()

    /// Starts the thread.
    public init() throws(LoopError) {
        // Nobody joins it: it ends after `end`.
        _ = try OwnThread { [self] in run() }
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = state.withLock { state in
            guard !state.isEnded else { return false }
            state.jobs.append(job)
            return true
        }
        if isTaken { bell.ring() } else { globalConcurrentExecutor.enqueue(job) }
    }

    /// Ends the thread when the jobs that are there are done.
    public func end() {
        state.withLock { $0.isEnded = true }
        bell.ring()
    }

    private func run() {
        while true {
            bell.wait()
            let (jobs, isEnded) = state.withLock { state in
                defer { state.jobs = [] }
                return (state.jobs, state.isEnded)
            }
            for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            if jobs.isEmpty, isEnded { return }
        }
    }
}

/// A semaphore of the system, for a thread that waits without a task.
@safe private final class Bell: @unchecked Sendable {
    // Safe to share: a POSIX semaphore is made to be used by several threads, and it never moves.
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
}
