import Synchronization

/// Counts the tools that run. A stopped turn does not wait for its tools to end, so that somebody else has to: a shell
/// command still has its 200 ms between TERM and KILL.
final class ToolRuns: Sendable {
    private struct State {
        var count = 0
        var waiting: [Promise<Void>] = []
    }

    private let state = Mutex(State())

    func run<Value: Sendable>(_ work: () async throws -> Value) async rethrows -> Value {
        state.withLock { $0.count += 1 }
        defer {
            let waiting = state.withLock { state in
                state.count -= 1
                guard state.count == 0 else { return [Promise<Void>]() }
                defer { state.waiting = [] }
                return state.waiting
            }
            for promise in waiting { promise.settle(()) }
        }
        return try await work()
    }

    /// Returns when none runs any more. Throws only when the waiting task is cancelled.
    func allEnded() async throws {
        let ended = Promise<Void>()
        let isIdle = state.withLock { state in
            if state.count > 0 { state.waiting.append(ended) }
            return state.count == 0
        }
        if !isIdle { try await ended.value() }
    }
}
