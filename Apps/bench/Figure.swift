/// One measured figure with its goal.
struct Figure {
    enum Goal {
        case atMost(Double)
        case atLeast(Double)
        /// Shown for information.
        case none
    }

    private let name: String
    let value: Double
    private let unit: String
    private let goal: Goal

    init(_ name: String, _ value: Double, _ unit: String, _ goal: Goal = .none) {
        self.name = name
        self.value = value
        self.unit = unit
        self.goal = goal
    }

    /// `id figure value unit goal verdict`, separated by tabs.
    func line(_ id: String) -> String {
        let (goal, verdict) =
            switch goal {
            case .atMost(let limit): ("<=\(limit)", value <= limit ? "holds" : "short")
            case .atLeast(let limit): (">=\(limit)", value >= limit ? "holds" : "short")
            case .none: ("", "info")
            }
        return [id, name, Self.rounded(value), unit, goal, verdict].joined(separator: "\t")
    }

    private static func rounded(_ value: Double) -> String {
        let places: Double = value < 10 ? 1000 : 10
        return "\((value * places).rounded() / places)"
    }
}

/// A peer could not be measured.
struct BenchmarkError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Times of one run. The median is used, because machines are noisy.
struct Samples {
    private var values: [Double] = []

    mutating func add(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        values.append(Double(seconds) + Double(attoseconds) / 1e18)
    }

    /// The median in seconds.
    var median: Double { quantile(0.5) }

    /// The time in seconds that a part of the times is below, such as 0.99.
    func quantile(_ part: Double) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
    }

    /// The best time of several rounds of some work.
    static func best(of rounds: Int, _ work: () throws -> Void) rethrows -> Double {
        var best = Double.infinity
        for _ in 0..<rounds {
            var sample = Samples()
            sample.add(try ContinuousClock().measure(work))
            best = min(best, sample.median)
        }
        return best
    }

    /// The best times of several alternating rounds of two kinds of work, because a machine's speed drifts.
    static func best(
        of rounds: Int, ours: () throws -> Void, theirs: () throws -> Void
    ) rethrows -> (ours: Double, theirs: Double) {
        var best = (ours: Double.infinity, theirs: Double.infinity)
        for _ in 0..<rounds {
            best.ours = min(best.ours, try Self.best(of: 1, ours))
            best.theirs = min(best.theirs, try Self.best(of: 1, theirs))
        }
        return best
    }
}
