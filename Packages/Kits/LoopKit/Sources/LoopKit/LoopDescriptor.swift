import CLoopKit
import Glibc

/// A non-blocking descriptor that tasks can wait for; it stays valid for the length of each use, and closes once.
///
/// Use and wait belong together: try first, and wait only after a try would have blocked.
///
///     while true {
///         switch descriptor.attempt(.readable, { recv($0, buffer, count, 0) }) {
///         case .moved(let count): return count
///         case .wouldBlock: guard try await descriptor.readable() == .ready else { return nil }
///         case .failed(let number): throw …
///         case .closed: return nil
///         }
///     }
///
/// The loop reports each change once, and the descriptor remembers it until an attempt would block. A wait may
/// therefore return at once, and never misses a change between the attempt and the wait.
public final class LoopDescriptor: Sendable {
    private let registration: Registration
    // Keeps the thread alive while a task may wait.
    private let loop: EventLoop

    /// Takes over the descriptor, makes it non-blocking and starts watching it. It is closed even if this throws.
    ///
    /// Throws `.notWatchable` for a regular file, which is always ready.
    public init(owning descriptor: Int32, loop: EventLoop) throws(LoopError) {
        let flags = fcntl(descriptor, F_GETFL)
        if flags >= 0, flags & O_NONBLOCK == 0 { _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) }
        self.loop = loop
        do throws(LoopError) {
            registration = try loop.core.add(descriptor) { [core = loop.core] token in
                Registration(descriptor, isOwned: true, core: core, token: token)
            }
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
    }

    /// Watches a non-blocking descriptor with another owner, such as a C library.
    ///
    /// Call `close`, or release this value, before the owner closes the descriptor.
    public init(borrowing descriptor: Int32, loop: EventLoop) throws(LoopError) {
        self.loop = loop
        registration = try loop.core.add(descriptor) { [core = loop.core] token in
            Registration(descriptor, isOwned: false, core: core, token: token)
        }
    }

    deinit { registration.close() }

    /// Ends every wait, and closes the descriptor unless it is borrowed. Later uses find it closed.
    public func close() {
        registration.close()
    }

    /// Ends every wait and returns the open descriptor to a new owner. Nil when it was closed.
    public func release() -> Int32? {
        registration.release()
    }

    /// Sets a handler that runs once when the peer hangs up: closes, half-closes or is lost. It runs at once if that
    /// has already happened.
    ///
    /// The handler runs on the thread of the loop and must not block. Nil removes the former handler; a running call
    /// may still finish after that.
    public func setHangUpHandler(_ handler: (@Sendable () -> Void)?) {
        registration.setHangUpHandler(handler)
    }
}

// MARK: Use

extension LoopDescriptor {
    /// The result of one attempt.
    public enum Attempt: Sendable, Equatable {
        /// The result of the call, such as how many bytes it moved.
        case moved(Int)
        case wouldBlock
        /// The system's error number.
        case failed(Int32)
        case closed
    }

    /// Makes one non-blocking system call that returns -1 and sets `errno` on failure. Interrupted calls are repeated.
    /// `direction` is the readiness that the call needs.
    public func attempt(_ direction: Readiness, _ call: (Int32) -> Int) -> Attempt {
        let attempt = registration.use { (descriptor, ready) -> Attempt in
            while true {
                let result = call(descriptor)
                if result >= 0 { return .moved(result) }
                switch errno {
                case EINTR: continue
                case EAGAIN:
                    ready.subtract(direction)
                    return .wouldBlock
                default: return .failed(errno)
                }
            }
        }
        return attempt ?? .closed
    }

    /// Passes the descriptor to `body` for another kind of call, such as into a TLS library. Nil when it is closed.
    ///
    /// `body` removes from the readiness the directions in which it would block, and no others. It must not block, and
    /// must not use this descriptor.
    public func withDescriptor<Result, Failure>(
        _ body: (Int32, inout Readiness) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        try registration.use(body)
    }

    /// Accepts a connection on a listening socket. `.moved` contains its non-blocking descriptor.
    public func accept() -> Attempt {
        attempt(.readable) { listener in
            let result = loopkit_accept(listener)
            if result < 0 { errno = -result }
            return result < 0 ? -1 : Int(result)
        }
    }
}

// MARK: Waiting

extension LoopDescriptor {
    /// How a wait ended.
    public enum Wake: Sendable {
        /// An attempt may succeed, but may still find nothing.
        case ready
        /// The descriptor was closed, or the loop stopped.
        case closed
        case timedOut
    }

    /// Waits until reading may succeed. Any number of tasks may wait; all of them are woken.
    ///
    /// Throws as soon as the task is cancelled.
    public nonisolated(nonsending) func readable(
        until deadline: ContinuousClock.Instant? = nil
    ) async throws(CancellationError) -> Wake {
        try await heed(.readable, deadline)
    }

    /// Waits like `readable` for writing.
    public nonisolated(nonsending) func writable(
        until deadline: ContinuousClock.Instant? = nil
    ) async throws(CancellationError) -> Wake {
        try await heed(.writable, deadline)
    }

    /// Waits like `readable` until any of the directions may succeed.
    public nonisolated(nonsending) func ready(
        _ directions: Readiness, until deadline: ContinuousClock.Instant? = nil
    ) async throws(CancellationError) -> Wake {
        try await heed(directions, deadline)
    }

    /// Waits despite cancellation, for cleanup.
    ///
    /// The deadline also applies when the descriptor is always ready, so that a caller that finds nothing to do cannot
    /// loop for ever.
    public nonisolated(nonsending) func readyThroughCancellation(
        _ direction: Readiness, until deadline: ContinuousClock.Instant? = nil
    ) async -> Wake {
        if let deadline, deadline <= .now { return .timedOut }
        let token: UInt64
        switch registration.prepare(direction) {
        case .over(let wake): return wake == .ready ? .ready : .closed
        case .waiting(let number): token = number
        }
        let wake = await suspend(direction, deadline, token, unlessCancelled: false)
        return wake == .ready ? .ready : wake == .timedOut ? .timedOut : .closed
    }

    private nonisolated(nonsending) func heed(
        _ direction: Readiness, _ deadline: ContinuousClock.Instant?
    ) async throws(CancellationError) -> Wake {
        if Task.isCancelled { throw CancellationError() }
        var wake: Registration.Wake
        switch registration.prepare(direction) {
        case .over(let answer): wake = answer
        case .waiting(let token):
            wake = await withTaskCancellationHandler {
                await suspend(direction, deadline, token, unlessCancelled: true)
            } onCancel: {
                registration.cancel(token)
            }
        }
        switch wake {
        case .ready: return .ready
        case .closed: return .closed
        case .timedOut: return .timedOut
        case .cancelled: throw CancellationError()
        }
    }

    private nonisolated(nonsending) func suspend(
        _ direction: Readiness, _ deadline: ContinuousClock.Instant?, _ token: UInt64, unlessCancelled: Bool
    ) async -> Registration.Wake {
        let time = deadline.map(registration.core.time) ?? .max
        return await unsafe withUnsafeContinuation { continuation in
            let waiter = unsafe Registration.Waiter(
                token: token, direction: direction, deadline: time, continuation: continuation)
            registration.enqueue(waiter, unlessCancelled: unlessCancelled)
        }
    }
}

/// The directions in which a descriptor may be ready.
public struct Readiness: OptionSet, Sendable {
    /// The bits, with the values of the C part.
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Reading, accepting, or learning of the end. The value is that of the C part.
    public static let readable = Readiness(rawValue: 1)
    /// Writing, or having connected.
    public static let writable = Readiness(rawValue: 2)
}
