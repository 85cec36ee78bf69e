import Glibc
import Synchronization

/// A separate thread for blocking work, because the shared pool has only as many threads as there are cores.
///
/// The new thread blocks all signals except those of a crash, because other threads handle the signals of the process.
/// Without `join` the thread keeps running.
public struct OwnThread: ~Copyable, Sendable {
    private let thread: pthread_t

    /// Runs `body` on a new thread.
    public init(_ body: @escaping @Sendable () -> Void) throws(LoopError) {
        final class Job {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        let job = unsafe Unmanaged.passRetained(Job(body))
        var thread = pthread_t()
        let before = Self.blockSignals()
        let failure = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Job>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, job.toOpaque())
        Self.restoreSignals(before)
        guard failure == 0 else {
            unsafe job.release()
            throw .system("start a thread", errno: failure)
        }
        self.thread = thread
    }

    deinit {
        pthread_detach(thread)
    }

    /// Waits for the thread's end. On the thread itself it only detaches the thread.
    public consuming func join() {
        let thread = thread
        if pthread_equal(thread, pthread_self()) != 0 {
            _ = consume self
        } else {
            discard self
            pthread_join(thread, nil)
        }
    }

    /// A thread inherits the mask of the one that starts it.
    private static func blockSignals() -> sigset_t {
        var block = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&block)
        for signal in [SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGABRT] { unsafe sigdelset(&block, signal) }
        unsafe pthread_sigmask(SIG_SETMASK, &block, &before)
        return before
    }

    private static func restoreSignals(_ mask: sigset_t) {
        var mask = mask
        unsafe pthread_sigmask(SIG_SETMASK, &mask, nil)
    }
}

/// Runs a blocking call on a separate thread, and waits for its result without blocking a thread of the pool.
///
/// The call cannot be cancelled from outside. If that is needed, give it a flag to check.
public nonisolated(nonsending) func onOwnThread<T: Sendable>(
    _ body: @escaping @Sendable () -> T
) async throws(LoopError) -> T {
    let result: Result<T, LoopError> = await withCheckedContinuation { continuation in
        do throws(LoopError) {
            _ = try OwnThread { continuation.resume(returning: .success(body())) }
        } catch {
            continuation.resume(returning: .failure(error))
        }
    }
    return try result.get()
}

/// Runs the jobs of tasks on one separate thread, where they may block.
///
/// The thread runs until `end`. Later jobs run on the shared threads, where they must not block.
public final class OwnThreadExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var isEnded = false
    }

    private let state = Mutex(State())
    /// Counts the jobs and the end.
    private let bell = ThreadBell()

    /// Starts the thread.
    public init() throws(LoopError) {
        // The thread is not joined: it ends after `end`.
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

/// A semaphore of the system, for a thread that waits without a task. Each ring ends one wait, also a later one.
@safe public final class ThreadBell: @unchecked Sendable {
    // Safe to share: a POSIX semaphore may be used by several threads, and it never moves.
    private let semaphore: UnsafeMutablePointer<sem_t>

    /// A bell that was not rung.
    public init() {
        unsafe semaphore = .allocate(capacity: 1)
        unsafe semaphore.initialize(to: sem_t())
        unsafe sem_init(semaphore, 0, 0)
    }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    /// Lets one thread go on.
    public func ring() {
        unsafe sem_post(semaphore)
    }

    /// Blocks the thread until the bell is rung.
    public func wait() {
        while unsafe sem_wait(semaphore) != 0 {}
    }
}
