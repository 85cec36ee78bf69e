/// Does work again and again, each time at a multiple of an interval from the first, and never twice at once.
struct Repetition: Sendable {
    let every: Duration
    let clock: any Clock<Duration>

    /// Goes on until the task is cancelled, and gives what the last time gave.
    func run<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        let elapsed = Self.stopwatch(clock)
        while true {
            let value = try await work()
            if Task.isCancelled { return value }
            // What took longer than the interval leaves out the times that it has missed.
            let rounds = (elapsed() / every).rounded(.down) + 1
            let wait = every * rounds - elapsed()
            do { try await clock.sleep(for: max(wait, .zero)) } catch { return value }
        }
    }

    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
