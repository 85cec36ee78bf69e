import Synchronization

/// The time limits of many waits, with one task that sleeps for all of them.
///
/// A sleep of each wait would cost a task and a timer of the system, although nearly all waits end in time. This task sleeps
/// until the earliest limit that it has seen, so limits that are taken back in time cost it nothing.
public final class SharedTimer: Sendable {
    private struct Alarm {
        let time: Duration
        let ring: @Sendable () -> Void
    }

    private struct State {
        var alarms: [Int: Alarm] = [:]
        var next = 0
        /// When the task looks again; nil if it does not sleep.
        var looksAt: Duration?
    }

    private let state = Mutex(State())
    private let earlier = Signal()
    /// The time since it was made.
    private let time: @Sendable () -> Duration
    private let sleep: @Sendable (_ until: Duration) async throws -> Void

    private init(on clock: any Clock<Duration>) {
        (time, sleep) = Self.started(on: clock)
    }

    private static func started<Time: Clock<Duration>>(
        on clock: Time
    ) -> (@Sendable () -> Duration, @Sendable (Duration) async throws -> Void) {
        let start = clock.now
        return (
            { start.duration(to: clock.now) },
            { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
        )
    }

    /// Runs `body` with alarms, which ring for as long as it runs, and until its task is cancelled.
    public static func run<Value>(
        on clock: any Clock<Duration>, _ body: (SharedTimer) async throws -> Value
    ) async throws -> Value {
        let timer = SharedTimer(on: clock)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            // Alarms ring although the thread that `body` prefers is held up.
            group.addTask(executorPreference: globalConcurrentExecutor) { try await timer.ring() }
            defer { group.cancelAll() }
            return try await body(timer)
        }
    }

    /// Sets an alarm.
    ///
    /// - Returns: its number, for `remove`.
    func set(after limit: Duration, _ ring: @escaping @Sendable () -> Void) -> Int {
        let due = time() + limit
        let (number, isEarlier) = state.withLock { state in
            state.next += 1
            state.alarms[state.next] = Alarm(time: due, ring: ring)
            let isEarlier = state.looksAt.map { due < $0 } ?? true
            if isEarlier { state.looksAt = due }
            return (state.next, isEarlier)
        }
        if isEarlier { earlier.raise() }
        return number
    }

    /// Takes an alarm back. One that has rung may be taken back too.
    func remove(_ number: Int) {
        state.withLock { _ = $0.alarms.removeValue(forKey: number) }
    }

    /// How many are set.
    var count: Int { state.withLock { $0.alarms.count } }

    private func ring() async throws {
        var seen = 0
        while true {
            let next = state.withLock { state in
                state.looksAt = state.alarms.values.map(\.time).min()
                return state.looksAt
            }
            seen = try await wait(until: next, beyond: seen)
            let now = time()
            let due = state.withLock { state in
                let due = state.alarms.filter { $0.value.time <= now }
                for number in due.keys { state.alarms[number] = nil }
                return due.values
            }
            for alarm in due { alarm.ring() }
        }
    }

    /// Waits for a time, or for an alarm that comes before it.
    private func wait(until time: Duration?, beyond seen: Int) async throws -> Int {
        guard let time else { return try await earlier.wait(beyond: seen) }
        return try await earlier.wait(beyond: seen) { [sleep] in try await sleep(time) }
    }
}
