import Synchronization

/// Lets one task at a time pass, or a few, in order of arrival, across suspensions.
public final class Turn: Sendable {
    private struct State {
        var free: Int
        var lastToken: UInt64 = 0
        var waiting: [(token: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
        /// The number of served tasks at the front. They are removed in batches, because removing each one would move
        /// all others.
        var served = 0
    }

    private let state: Mutex<State>

    /// A free turn. Up to `width` tasks can have it at once.
    public init(width: Int = 1) {
        state = Mutex(State(free: max(1, width)))
    }

    /// Waits until there is room and all earlier tasks have passed. A cancelled wait throws, and must not call `pass`.
    public nonisolated(nonsending) func take() async throws(CancellationError) {
        let token = state.withLock { state -> UInt64? in
            if state.free > 0, !Task.isCancelled {
                state.free -= 1
                return nil
            }
            state.lastToken += 1
            return state.lastToken
        }
        guard let token else { return }
        let isMine = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.free == 0 {
                        state.waiting.append((token, continuation))
                        return nil
                    }
                    state.free -= 1
                    return true
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting[state.served...].firstIndex { $0.token == token }.map { state.waiting.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
        if !isMine { throw CancellationError() }
    }

    /// Lets the next task pass. Every task that took the turn must call this.
    public func pass() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard state.served < state.waiting.count else {
                state.free += 1
                return nil
            }
            defer {
                state.served += 1
                if state.served * 2 > state.waiting.count {
                    state.waiting.removeFirst(state.served)
                    state.served = 0
                }
            }
            return state.waiting[state.served].continuation
        }
        next?.resume(returning: true)
    }
}
