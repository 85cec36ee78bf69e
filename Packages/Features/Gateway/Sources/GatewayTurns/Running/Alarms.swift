import Synchronization

/// Rings for whoever takes longer than the one limit that holds for all.
///
/// One task watches over all of them, and it runs only while there is somebody to watch. With one limit for all, who began
/// first is due first.
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

    /// After how long they ring.
    public let limit: Duration
    private let clock: any Clock<Duration>
    /// The time since these alarms were made.
    private let elapsed: @Sendable () -> Duration
    private let state = Mutex(State())

    /// Alarms that ring after so long.
    public init(after limit: Duration, on clock: any Clock<Duration>) {
        self.limit = limit
        self.clock = clock
        elapsed = Self.stopwatch(clock)
    }

    /// Sets an alarm; `cancel` has to follow, also when it has rung.
    public func set(_ ring: @escaping @Sendable () -> Void) -> Int {
        let due = elapsed() + limit
        return state.withLock { state in
            state.next += 1
            state.alarms[state.next] = Alarm(due: due, ring: ring)
            if state.watch == nil { state.watch = Task { await watch() } }
            return state.next
        }
    }

    /// Forgets an alarm.
    public func cancel(_ number: Int) {
        let watch = state.withLock { state -> Task<Void, Never>? in
            state.alarms[number] = nil
            return state.alarms.isEmpty ? state.watch.take() : nil
        }
        // It owns nothing but its sleep, which ends at once.
        watch?.cancel()
    }

    /// Does work that is rung for where it takes too long.
    func during<Value>(
        _ work: () async throws -> Value, ring: @escaping @Sendable () -> Void
    ) async rethrows -> Value {
        let number = set(ring)
        defer { cancel(number) }
        return try await work()
    }

    private func watch() async {
        while let time = ringing() {
            // A sleep that is cut short means that there is nobody to watch any more.
            do { try await clock.sleep(for: time) } catch { return }
        }
    }

    /// Rings where the time is over, and gives the time until the next is due; nil when there is none.
    private func ringing() -> Duration? {
        let (due, time) = state.withLock { state -> ([Alarm], Duration?) in
            let now = elapsed()
            let due = state.alarms.filter { $0.value.due <= now }
            for number in due.keys { state.alarms[number] = nil }
            if state.alarms.isEmpty { state.watch = nil }
            return (Array(due.values), state.alarms.values.map(\.due).min().map { $0 - now })
        }
        for alarm in due { alarm.ring() }
        return time
    }

    private static func stopwatch<Time: Clock<Duration>>(_ clock: Time) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
