import Synchronization

/// Lets one task at a time through, in the order of their coming, across suspensions.
public final class Turn: Sendable {
    private struct State {
        var isTaken = false
        var lastToken: UInt64 = 0
        var waiting: [(token: UInt64, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state = Mutex(State())

    /// A turn that nobody has taken.
    public init() {}

    /// Waits until all who came before have passed; a cancelled wait throws and has nothing to pass.
    public nonisolated(nonsending) func take() async throws(CancellationError) {
        let token = state.withLock { state in
            state.lastToken += 1
            return state.lastToken
        }
        let isMine = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.isTaken {
                        state.waiting.append((token, continuation))
                        return nil
                    }
                    state.isTaken = true
                    return true
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.token == token }.map { state.waiting.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
        if !isMine { throw CancellationError() }
    }

    /// Lets the next one through; whoever has taken the turn has to.
    public func pass() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume(returning: true)
    }
}
