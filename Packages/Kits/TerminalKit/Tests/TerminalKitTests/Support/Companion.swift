import Glibc
import LoopKit
import Synchronization
import TerminalTesting

@testable import TerminalKit

/// Work in parallel to an exit test, on a real thread, because waiting for the process of an exit test blocks the
/// shared pool.
final class Companion: Sendable {
    private let outcome: Outcome

    private final class Outcome: Sendable {
        let result = Mutex<Result<String, any Error>?>(nil)
        let done: WakePipe

        init() throws { done = try WakePipe() }
    }

    /// Starts the work, which returns what a terminal has shown.
    init(_ work: @escaping @Sendable () throws -> String) throws {
        let outcome = try Outcome()
        self.outcome = outcome
        _ = try OwnThread {
            let result = Result { try work() }
            outcome.result.withLock { $0 = result }
            outcome.done.cancel()
        }
    }

    /// The result of the work, awaited on the calling thread.
    func value() throws -> String {
        var done = pollfd(fd: outcome.done.readEnd, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&done, 1, -1) < 0 && errno == EINTR {}
        guard let result = outcome.result.withLock({ $0 }) else {
            throw TestTerminalError(message: "the work beside the test did not end")
        }
        return try result.get()
    }
}
