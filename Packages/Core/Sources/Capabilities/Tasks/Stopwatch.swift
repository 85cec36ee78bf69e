/// Measures the time since it was made, on any clock.
public struct Stopwatch: Sendable {
    private let elapsed: @Sendable () -> Duration

    /// Starts it.
    public init(_ clock: any Clock<Duration>) {
        elapsed = Self.started(on: clock)
    }

    /// The time since it was made.
    public func time() -> Duration { elapsed() }

    private static func started<Time: Clock<Duration>>(on clock: Time) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }
}
