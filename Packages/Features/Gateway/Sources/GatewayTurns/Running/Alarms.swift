import Capabilities
import Synchronization

/// Timeouts that share one time limit.
///
/// One task watches all of them, and it runs only while there are any. With one limit for all, alarms fire in the order
/// in which they were set.
public final class Alarms: Sendable {
    private struct Alarm {
        let due: Duration
        let ring: @Sendable () -> Void
    }

    private struct State {
        var alarms: [Int: Alarm] = [:]
        var next = 0
        var watch: Task<Void, Never>?
    }

    /// The time after which alarms fire.
    public let limit: Duration
    private let clock: any Clock<Duration>
    private let stopwatch: Stopwatch
    private let state = Mutex(State())

    /// Creates alarms that fire after `limit`.
    public init(after limit: Duration, on clock: any Clock<Duration>) {
        self.limit = limit
        self.clock = clock
        stopwatch = Stopwatch(clock)
    }

    /// Sets an alarm. The caller must call `cancel` later, even if it fired.
    public func set(_ ring: @escaping @Sendable () -> Void) -> Int {
        let due = stopwatch.time() + limit
        return state.withLock { state in
            state.next += 1
            state.alarms[state.next] = Alarm(due: due, ring: ring)
            if state.watch == nil { state.watch = Task { await watch() } }
            return state.next
        }
    }

    /// Removes an alarm.
    public func cancel(_ number: Int) {
        let watch = state.withLock { state -> Task<Void, Never>? in
            state.alarms[number] = nil
            return state.alarms.isEmpty ? state.watch.take() : nil
        }
        // The task only sleeps, so it ends at once.
        watch?.cancel()
    }

    /// Runs `work`, and calls `ring` if it takes too long.
    func during<Value>(
        _ work: () async throws -> Value, ring: @escaping @Sendable () -> Void
    ) async rethrows -> Value {
        let number = set(ring)
        defer { cancel(number) }
        return try await work()
    }

    private func watch() async {
        while let time = ringing() {
            // A cancelled sleep means that no alarms are left.
            do { try await clock.sleep(for: time) } catch { return }
        }
    }

    /// Fires due alarms, and returns the time until the next one; nil if there is none.
    private func ringing() -> Duration? {
        let (due, time) = state.withLock { state -> ([Alarm], Duration?) in
            let now = stopwatch.time()
            let due = state.alarms.filter { $0.value.due <= now }
            for number in due.keys { state.alarms[number] = nil }
            if state.alarms.isEmpty { state.watch = nil }
            return (Array(due.values), state.alarms.values.map(\.due).min().map { $0 - now })
        }
        for alarm in due { alarm.ring() }
        return time
    }
}
