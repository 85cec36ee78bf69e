import Capabilities
import Glibc

/// How long each kind of work takes. Times are counted in steps of one percent, so that the memory does not grow with them.
struct SpanFigures {
    /// The times of one kind of work, by the logarithm of the time.
    private struct Times {
        var counts: [Int: Int] = [:]
        var count = 0
        var failures = 0
        var sum = 0.0
        var longest = 0.0

        mutating func add(_ seconds: Double) {
            counts[SpanFigures.step(seconds), default: 0] += 1
            count += 1
            sum += seconds
            longest = max(longest, seconds)
        }

        /// The time that a part of all is below.
        func quantile(_ part: Double) -> Double {
            let rank = max(1, Int((part * Double(count)).rounded(.up)))
            var below = 0
            for (step, number) in counts.sorted(by: { $0.key < $1.key }) {
                below += number
                if below >= rank { return min(SpanFigures.seconds(of: step), longest) }
            }
            return longest
        }
    }

    private var kinds: [String: Times] = [:]
    /// Of more kinds of work, as only a mistake in names makes them, the rest is counted together.
    private static let mostKinds = 5_000
    private static let base = 1.02
    private static let shortest = 1e-9

    private static func step(_ seconds: Double) -> Int {
        guard seconds > shortest else { return 0 }
        return Int(log(seconds / shortest) / log(base))
    }

    /// The middle of a step, which is off by at most one percent.
    private static func seconds(of step: Int) -> Double {
        shortest * exp((Double(step) + 0.5) * log(base))
    }

    /// Counts a span.
    mutating func add(_ name: String, _ duration: Duration, hasFailed: Bool) {
        let kind = kinds[name] != nil || kinds.count < Self.mostKinds ? name : "…"
        kinds[kind, default: Times()].add(duration / .seconds(1))
        if hasFailed { kinds[kind]?.failures += 1 }
    }

    /// A row for each kind of work, that which took most in all first.
    var rows: [SpanFigure] {
        kinds.sorted { ($0.value.sum, $1.key) > ($1.value.sum, $0.key) }.map { name, times in
            SpanFigure(
                name: name, count: times.count, failures: times.failures, sum: .seconds(times.sum),
                half: .seconds(times.quantile(0.5)), most: .seconds(times.quantile(0.95)),
                nearlyAll: .seconds(times.quantile(0.99)), longest: .seconds(times.longest))
        }
    }
}

/// The times of one kind of work.
struct SpanFigure: Record {
    let name: String
    let count: Int
    let failures: Int
    let sum: Duration
    let half: Duration
    let most: Duration
    let nearlyAll: Duration
    let longest: Duration

    static let fields: [Field<SpanFigure>] = [
        Field("name", "Kind of work", .name) { PlainText.escape($0.name, limit: 200) },
        Field("count", "How often it was done") { $0.count },
        Field("failures", "How often it failed") { $0.failures },
        Field("p50", "Half of it takes at most this long, off by at most one percent") { $0.half },
        Field("p95", "Of a hundred, 95 take at most this long") { $0.most },
        Field("p99", "Of a hundred, 99 take at most this long") { $0.nearlyAll },
        Field("longest", "The longest time") { $0.longest },
        Field("sum", "Time of all together", .minor) { $0.sum },
    ]
}
