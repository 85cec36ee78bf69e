import LoopKit
import Synchronization

/// A few threads for blocking work, because clients share the threads of the loops: reading files, and compressing or
/// parsing large data.
final class FileThreads: Sendable {
    private struct State {
        var threads: [OwnThreadExecutor] = []
        var turn = 0
        var isEnded = false
    }

    private let state = Mutex(State())
    private static let most = 4
    /// Work on more bytes than this counts as slow.
    static let large = 256 << 10

    /// The number of jobs so far.
    var count: Int { state.withLock { $0.turn } }

    /// Runs work on one of the threads.
    nonisolated(nonsending) func run<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        // After `end`, work runs on the caller's thread.
        guard let thread = try next() else { return try await body() }
        return try await withTaskExecutorPreference(thread, operation: body)
    }

    private func next() throws(LoopError) -> OwnThreadExecutor? {
        try state.withLock { (state) throws(LoopError) in
            guard !state.isEnded else { return nil }
            if state.threads.count < Self.most { state.threads.append(try OwnThreadExecutor()) }
            state.turn += 1
            return state.threads[state.turn % state.threads.count]
        }
    }

    /// Ends the threads after their running work.
    func end() {
        state.withLock { state in
            state.isEnded = true
            for thread in state.threads { thread.end() }
        }
    }
}
