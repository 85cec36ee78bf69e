import Glibc

/// Runs blocking work on a thread of its own, since the shared pool has only as many threads as there are cores.
enum BlockingThread {
    static func run<Success: Sendable>(
        _ work: @escaping @Sendable () -> Result<Success, TerminalError>
    ) async -> Result<Success, TerminalError> {
        await withCheckedContinuation { continuation in
            let error = start { continuation.resume(returning: work()) }
            if error != 0 {
                continuation.resume(
                    returning: .failure(TerminalError(.system, "cannot start a thread to ask on", errno: error)))
            }
        }
    }

    private final class Job: Sendable {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let job = unsafe Unmanaged.passRetained(Job(body))
        var thread = pthread_t()
        let before = blockSignals()
        let error = unsafe pthread_create(
            &thread, &attributes,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<Job>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, job.toOpaque())
        restoreSignals(before)
        if error != 0 { unsafe job.release() }
        return error
    }

    /// The new thread inherits the mask: signals for the process belong to the threads that expect them, but those
    /// of a crash have to reach their handler.
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
