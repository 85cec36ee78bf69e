import Glibc
import Synchronization

/// Blocks threads until it is opened; from then on it lets all of them through. Threads block without polling, like a
/// slow statement or callback.
public final class Gate: Sendable {
    private let reader: Int32
    private let writer: Mutex<Int32?>
    private let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)

    public init() {
        var ends: [Int32] = [-1, -1]
        let made = unsafe pipe(&ends) == 0
        precondition(made, "no more descriptors for a test's gate")
        // A child process would keep the gate closed.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        reader = ends[0]
        writer = Mutex(ends[1])
    }

    deinit {
        open()
        close(reader)
    }

    public var isOpen: Bool { writer.withLock { $0 == nil } }

    public func open() {
        writer.withLock { end in
            if let end { close(end) }
            end = nil
        }
    }

    /// Blocks the thread until the gate is open.
    public func pass() {
        arrival.yield()
        var byte: UInt8 = 0
        // Nothing is ever written: the call returns when the other end is closed, and is repeated after a signal.
        while unsafe read(reader, &byte, 1) < 0, errno == EINTR {}
    }

    /// Returns when a thread has reached the gate.
    public func reached() async throws {
        for await _ in arrivals { return }
        throw CancellationError()
    }
}
