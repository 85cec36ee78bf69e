import HTTPServer
import Synchronization

/// The platform behind its lock, for those who wait until something has happened in it.
final class Board: Sendable {
    private struct State {
        var platform: Platform
        var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
        var next = 0
    }

    private let state: Mutex<State>

    init(_ platform: Platform) {
        state = Mutex(State(platform: platform))
    }

    var platform: Platform { state.withLock { $0.platform } }

    @discardableResult
    func change<Result: Sendable, Failure: Error>(
        _ body: (inout Platform) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // A refusal may have changed something too, so that watchers are told of it as well.
        defer {
            let watchers = state.withLock { Array($0.watchers.values) }
            for watcher in watchers { watcher.yield() }
        }
        return try state.withLock { (state) throws(Failure) in try body(&state.platform) }
    }

    /// Returns as soon as the condition is met; throws `CancellationError` when the task is cancelled before.
    func until(_ condition: @Sendable (Platform) -> Bool) async throws {
        let (changes, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.next += 1
            state.watchers[state.next] = signal
            return state.next
        }
        defer { _ = state.withLock { $0.watchers.removeValue(forKey: id) } }
        var iterator = changes.makeAsyncIterator()
        while !condition(platform) {
            guard await iterator.next() != nil else { throw CancellationError() }
        }
    }
}
