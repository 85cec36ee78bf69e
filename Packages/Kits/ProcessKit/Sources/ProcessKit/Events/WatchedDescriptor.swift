import Glibc
import Synchronization

/// A non-blocking descriptor that tasks can wait for; it stays valid for the length of each use, and closes only once.
final class WatchedDescriptor: Sendable {
    /// What became of one try to read or write.
    enum Attempt {
        case moved(Int)
        case wouldBlock
        case failed(Int32)
        case closed
    }

    private let loop: EventLoop
    private let isForWriting: Bool
    // The lock is held over each use, so that the number cannot be closed and given to another file meanwhile.
    private let descriptor: Mutex<Int32?>

    /// Takes over the descriptor.
    init(owning descriptor: Int32, forWriting: Bool = false, loop: EventLoop) {
        self.loop = loop
        isForWriting = forWriting
        self.descriptor = Mutex(descriptor)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    deinit { close() }

    /// Makes one non-blocking system call on the descriptor.
    func attempt(_ call: (Int32) -> Int) -> Attempt {
        descriptor.withLock { descriptor in
            guard let descriptor else { return .closed }
            while true {
                let result = call(descriptor)
                if result >= 0 { return .moved(result) }
                switch errno {
                case EINTR: continue
                case EAGAIN: return .wouldBlock
                default: return .failed(errno)
                }
            }
        }
    }

    /// Waits until the descriptor is worth another try; true, or false once it is closed.
    nonisolated(nonsending) func isReady() async throws -> Bool {
        let token = loop.makeToken()
        let wake = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                register(token, until: nil, continuation, unlessCancelled: true)
            }
        } onCancel: {
            descriptor.withLock { descriptor in
                if let descriptor { loop.cancel(token, of: descriptor) }
            }
        }
        switch wake {
        case .ready: return true
        case .closed, .timedOut: return false
        case .cancelled: throw CancellationError()
        case .failed(let number): throw ProcessError.system("wait for a child process", errno: number)
        }
    }

    /// Waits like `isReady`, for cleaning up: through cancellation, but not past the deadline.
    nonisolated(nonsending) func isReady(until deadline: ContinuousClock.Instant) async -> Bool {
        let token = loop.makeToken()
        let wake = await withCheckedContinuation { continuation in
            register(token, until: deadline, continuation, unlessCancelled: false)
        }
        if case .ready = wake { return true }
        return false
    }

    /// Waits like `isReady` through cancellation, until ready or closed.
    nonisolated(nonsending) func isReadyThroughCancellation() async -> Bool {
        let token = loop.makeToken()
        let wake = await withCheckedContinuation { continuation in
            register(token, until: nil, continuation, unlessCancelled: false)
        }
        if case .ready = wake { return true }
        return false
    }

    /// Closes the descriptor and ends every wait for it.
    func close() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            descriptor = nil
            loop.forget(open)
            _ = Glibc.close(open)
        }
    }

    private func register(
        _ token: UInt64, until deadline: ContinuousClock.Instant?, _ continuation: EventLoop.Continuation,
        unlessCancelled: Bool
    ) {
        descriptor.withLock { descriptor in
            // A cancellation sets the flag before it calls the handler, so one of the two sees this wait.
            if unlessCancelled, Task.isCancelled { return continuation.resume(returning: .cancelled) }
            guard let descriptor else { return continuation.resume(returning: .closed) }
            loop.wait(for: descriptor, writing: isForWriting, token: token, until: deadline, continuation)
        }
    }
}
