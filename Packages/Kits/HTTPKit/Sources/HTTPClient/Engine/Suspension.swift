/// A task that waits, and must be resumed exactly once.
///
/// Over the unsafe continuation, because a checked one costs an allocation for each wait; who takes a suspension out of
/// its place under a lock is the one who resumes it.
@safe struct Suspension: Sendable {
    private let continuation: UnsafeContinuation<Void, Never>

    /// Suspends the task, unless `keep` says that there is nothing to wait for; if it keeps the suspension, somebody
    /// resumes it.
    static nonisolated(nonsending) func wait(_ keep: (Suspension) -> Bool) async {
        await unsafe withUnsafeContinuation { continuation in
            if !keep(unsafe Suspension(continuation: continuation)) { unsafe continuation.resume() }
        }
    }

    func resume() {
        unsafe continuation.resume()
    }
}
