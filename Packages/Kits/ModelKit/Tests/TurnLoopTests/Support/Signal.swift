import Synchronization

/// Tells one task that another has reached a certain point.
final class Signal: Sendable {
    private let state = Mutex<(isRaised: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func raise() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// It ignores cancellation, as bad tools do.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isRaised = state.withLock { state in
                if !state.isRaised { state.waiting.append(continuation) }
                return state.isRaised
            }
            if isRaised { continuation.resume() }
        }
    }
}
