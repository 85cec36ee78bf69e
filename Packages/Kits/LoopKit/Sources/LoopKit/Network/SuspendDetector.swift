/// Notices that the machine slept: one clock goes on meanwhile, and the other stands still.
public struct SuspendDetector: Sendable {
    private var last: (continuous: ContinuousClock.Instant, suspending: SuspendingClock.Instant)?
    private let threshold: Duration

    /// Sleeps shorter than `threshold` are not noticed: connections outlive them.
    public init(threshold: Duration = .seconds(2)) {
        self.threshold = threshold
    }

    /// Whether the machine slept between the last call and this one.
    public mutating func sawSleep(
        continuous: ContinuousClock.Instant = .now, suspending: SuspendingClock.Instant = .now
    ) -> Bool {
        defer { last = (continuous, suspending) }
        guard let last else { return false }
        return (continuous - last.continuous) - (suspending - last.suspending) >= threshold
    }
}
