import Capabilities
import StorageKit
import Synchronization

/// Accounts for answers, for all that end at the same time in one transaction.
final class AccountQueue: Sendable {
    private struct Waiting {
        let entry: UsageEntry
        let time: Timestamp
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var waiting: [Waiting] = []
        var isWriting = false
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    private let database: Database
    private let state = Mutex(State())

    init(_ database: Database) {
        self.database = database
    }

    /// Returns when it is stored, also where the task was cancelled: what was used is counted.
    func add(_ entry: UsageEntry, at time: Timestamp) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let isFirst = state.withLock { state in
                state.waiting.append(Waiting(entry: entry, time: time, continuation: continuation))
                return !exchange(&state.isWriting, with: true)
            }
            // Those who wait for it own it: it ends with the last of them.
            if isFirst { Task { await write() } }
        }
    }

    /// Waits until nobody waits any more.
    func drained() async {
        await withCheckedContinuation { continuation in
            let isQuiet = state.withLock { state in
                if state.isWriting { state.closers.append(continuation) }
                return !state.isWriting
            }
            if isQuiet { continuation.resume() }
        }
    }

    private func write() async {
        while let batch = take() {
            let result: Result<Void, any Error>
            do {
                try await database.write { connection in
                    for one in batch { try connection.account(one.entry, message: nil, at: one.time) }
                }
                result = .success(())
            } catch {
                result = .failure(error)
            }
            for one in batch { one.continuation.resume(with: result) }
        }
    }

    /// Those that wait; nil when there are none, and then the next to come is the first again.
    private func take() -> [Waiting]? {
        let (batch, closers) = state.withLock { state -> ([Waiting]?, [CheckedContinuation<Void, Never>]) in
            guard state.waiting.isEmpty else { return (exchange(&state.waiting, with: []), []) }
            state.isWriting = false
            return (nil, exchange(&state.closers, with: []))
        }
        for closer in closers { closer.resume() }
        return batch
    }
}
