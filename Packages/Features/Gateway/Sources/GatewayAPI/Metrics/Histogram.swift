/// How often something took how long, in steps that fit both a look into a table and a long answer of a model.
struct Histogram: Sendable {
    /// The upper ends in seconds; what took longer is in `count` alone.
    static let ends = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

    private(set) var counts = [Int](repeating: 0, count: Self.ends.count)
    private(set) var count = 0
    private(set) var sum = 0.0

    mutating func add(_ seconds: Double) {
        if let place = Self.ends.firstIndex(where: { seconds <= $0 }) { counts[place] += 1 }
        count += 1
        sum += seconds
    }
}
