import Capabilities
import Synchronization

/// Wakes who waits for a call when that has taken long, by one timer for all calls of an owner: most calls end at once, and a
/// timer for each would cost as much as they do.
final class CallTimer: Sendable {
    private struct State {
        var next = 0
        var waiting: [Int: (end: ContinuousClock.Instant, news: Signal)] = [:]
        var isRunning = false
    }

    private let state = Mutex(State())

    /// Raises a signal at a time, unless it is removed before, or the owner is over.
    func add(_ news: Signal, at end: ContinuousClock.Instant, in owner: TaskOwner) -> Int {
        let (number, isFirst) = state.withLock { state in
            defer { state.isRunning = true }
            state.next += 1
            state.waiting[state.next] = (end, news)
            return (state.next, !state.isRunning)
        }
        // It runs until nobody waits when it looks, and not for each call.
        if isFirst { _ = owner.start { await self.run() } }
        return number
    }

    func remove(_ number: Int) { state.withLock { $0.waiting[number] = nil } }

    private func run() async {
        while let next = earliest {
            do { try await ContinuousClock().sleep(until: next) } catch { return }
            let now = ContinuousClock.now
            let due = state.withLock { state in
                let due = state.waiting.filter { $0.value.end <= now }
                for number in due.keys { state.waiting[number] = nil }
                return due.values.map(\.news)
            }
            for news in due { news.raise() }
        }
    }

    /// When the first is to be woken; nil if nobody waits, and then it runs no more.
    private var earliest: ContinuousClock.Instant? {
        state.withLock { state in
            let earliest = state.waiting.values.map(\.end).min()
            if earliest == nil { state.isRunning = false }
            return earliest
        }
    }
}
