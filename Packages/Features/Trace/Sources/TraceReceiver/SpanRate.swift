import Capabilities
import Synchronization

/// How many spans are taken in a second. A request is taken whole while something is left, and what it takes too much is waited
/// for by those after it.
final class SpanRate: Sendable {
    private struct State {
        var left: Double
        var time: Timestamp
    }

    private let rate: Double
    private let now: @Sendable () -> Timestamp
    private let state: Mutex<State>

    /// - Parameter rate: spans in a second. As many may come at once after a pause.
    init(_ rate: Int, now: @escaping @Sendable () -> Timestamp) {
        (self.rate, self.now) = (Double(rate), now)
        state = Mutex(State(left: Double(rate), time: now()))
    }

    /// How many seconds a sender has to wait; nil if it need not.
    func wait() -> Int? {
        let now = now()
        return state.withLock { state in
            // A clock that goes back gives nothing.
            let passed = max(.zero, now - state.time) / .seconds(1)
            state.left = min(rate, state.left + passed * rate)
            state.time = now
            guard state.left <= 0 else { return nil }
            return min(60, max(1, Int((-state.left / rate).rounded(.up))))
        }
    }

    /// Takes note of spans that were taken.
    func take(_ count: Int) { state.withLock { $0.left -= Double(count) } }
}
