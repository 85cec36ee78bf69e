/// A histogram of durations, with steps for both a quick lookup and a long answer of a model.
public struct Histogram: Sendable {
    /// The upper bounds in seconds. Longer durations are only in `count`.
    static let ends = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

    private(set) var counts = [Int](repeating: 0, count: Self.ends.count)
    private(set) var count = 0
    private(set) var sum = 0.0

    /// How many durations are in each step; the last one has those beyond the last bound.
    var buckets: [Int] { counts + [count - counts.reduce(0, +)] }

    /// A histogram without durations.
    public init() {}

    /// Counts a duration.
    public mutating func add(_ duration: Duration) {
        let seconds = duration / .seconds(1)
        if let place = Self.ends.firstIndex(where: { seconds <= $0 }) { counts[place] += 1 }
        count += 1
        sum += seconds
    }
}
