public import Capabilities
import FileKit
import Glibc
import ProcessKit
import Synchronization

/// Runs a program's work on its main thread and turns signals into cancellation.
///
/// Most commands finish before another thread would have started, so no thread is started for them. Work that waits or
/// computes moves to the global executor itself.
public final class MainLoop: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        var exit: ExitCode?
        /// Called by the next SIGINT instead of ending the program.
        var interrupt: (@Sendable () -> Void)?
        /// Whether a signal has come that ends the program.
        var isEnding = false
    }

    private let state = Mutex(State())
    private let wake: WakeDescriptor
    private let signals: Signals
    /// How long the work may take to end after a signal before the program ends without it.
    private let patience: Duration

    private init(patience: Duration, wake: consuming WakeDescriptor, signals: Signals) {
        self.patience = patience
        self.wake = wake
        self.signals = signals
    }

    /// Makes signals that arrive before `run` end the program with the right exit code, and protects secrets in memory
    /// from core dumps and other processes. Call it as early as possible.
    ///
    /// - Returns: the environment variables. The values of secret ones are overwritten in the process's environment, so
    ///   that commands run by a model do not find them in `/proc`.
    public static func prepare() -> [String: String] {
        Signals.endProcessUntilInstalled()
        ProcessMemory.hide()
        return Environment.take(hiding: CommandEnvironment.isSecret)
    }

    /// Throws if the limit on open files is so low that not even an error could be reported later.
    public static func requireDescriptors() throws(HostError) {
        let highest = fcntl(2, F_DUPFD_CLOEXEC, 15)
        if highest >= 0 {
            close(highest)
        } else if errno == EMFILE || errno == EINVAL {
            throw HostError.noDescriptors
        }
    }

    /// Runs the work until it finishes and returns its exit code.
    ///
    /// Signals that end a program, such as SIGINT and SIGTERM, cancel the work. A second SIGINT or SIGQUIT, or work
    /// that does not end within the patience, ends the program at once. Must be called on the main thread and only
    /// once.
    ///
    /// - Parameter restore: restores the terminal; it may run inside a signal handler.
    public static func run(
        patience: Duration = .seconds(12), restore: (@convention(c) () -> Void)? = nil,
        _ work: @escaping @Sendable (MainLoop) async -> ExitCode
    ) -> ExitCode {
        // Without a pipe or signal handlers the program could not end cleanly, so it does not start.
        guard let wake = WakeDescriptor() else { return .failed }
        do {
            let signals = try Signals.install(Signal.endings)
            signals.setRestoreHook(restore)
            let loop = MainLoop(patience: patience, wake: wake, signals: signals)
            // The loop owns this task, which ends with the loop or with the process.
            let task = Task(executorPreference: loop) {
                let exit = await work(loop)
                loop.finish(exit)
            }
            return loop.drain { task.cancel() }
        } catch {
            return .failed
        }
    }

    /// Runs work that the next SIGINT cancels on its own; the SIGINT after that cancels everything, as usual.
    public func interruptible<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        // Awaited below, whatever cancels it.
        let task = Task { try await work() }
        state.withLock { $0.interrupt = { task.cancel() } }
        defer { state.withLock { $0.interrupt = nil } }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Blocks this thread until a descriptor can be written to or its reader is gone.
    ///
    /// Returns false if the program is ending and the reader does not read.
    public func waitForRoom(in descriptor: Int32) -> Bool {
        var descriptors = [
            pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0),
            pollfd(fd: signals.fileDescriptor, events: Int16(POLLIN), revents: 0),
        ]
        if !state.withLock({ $0.isEnding }) {
            while unsafe poll(&descriptors, 2, -1) < 0, errno == EINTR {}
            if descriptors[0].revents != 0 { return true }
        }
        // A reader that is only slow still gets the last output.
        while true {
            let count = unsafe poll(&descriptors, 1, 1_000)
            if count >= 0 || errno != EINTR { return count > 0 }
        }
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let wasEmpty = state.withLock { state in
            state.jobs.append(job)
            return state.jobs.count == 1
        }
        if wasEmpty { wake.notify() }
    }

    private func takeInterrupt() -> (@Sendable () -> Void)? {
        state.withLock { state in
            defer { state.interrupt = nil }
            return state.interrupt
        }
    }

    private func finish(_ exit: ExitCode) {
        state.withLock { $0.exit = exit }
        wake.notify()
    }

    private func drain(cancel: () -> Void) -> ExitCode {
        var ended: ExitCode?
        var deadline: ContinuousClock.Instant?
        while true {
            let (jobs, exit) = state.withLock { state in
                defer { state.jobs = [] }
                return (state.jobs, state.exit)
            }
            for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            if let exit { return ended ?? exit }
            if jobs.isEmpty { wake.wait(orReadable: signals.fileDescriptor, until: deadline) }
            while let signal = signals.next() {
                if signal == .interrupt, let interrupt = takeInterrupt() {
                    signals.acknowledgeInterrupt()
                    interrupt()
                    continue
                }
                ended = signal == .interrupt ? .interrupted : .terminated
                deadline = deadline ?? .now + patience
                state.withLock { $0.isEnding = true }
                cancel()
            }
            if let deadline, let ended, .now >= deadline { return ended }
        }
    }
}

/// A pipe that lets any thread wake the main loop.
struct WakeDescriptor: ~Copyable, Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32

    /// Nil if too many files are open.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        (readEnd, writeEnd) = (ends[0], ends[1])
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    /// Wakes the loop. If the pipe is already full, the loop wakes anyway.
    func notify() {
        var byte: UInt8 = 1
        _ = unsafe write(writeEnd, &byte, 1)
    }

    /// Waits for `notify`, for the other descriptor or for the deadline, whichever comes first.
    func wait(orReadable other: Int32, until deadline: ContinuousClock.Instant?) {
        var descriptors = [
            pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0),
            pollfd(fd: other, events: Int16(POLLIN), revents: 0),
        ]
        let limit = deadline.map { max(0, ContinuousClock.now.duration(to: $0).milliseconds + 1) } ?? -1
        _ = unsafe poll(&descriptors, 2, Int32(clamping: limit))
        var bytes: [UInt8] = Array(repeating: 0, count: 64)
        _ = unsafe read(readEnd, &bytes, bytes.count)
    }
}
