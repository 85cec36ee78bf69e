import Capabilities
import TraceStore

/// What a trace did, by kind of work, gathered span by span.
struct TraceWork {
    /// How often it was done, and what that took.
    struct Sums {
        var count = 0
        var failures = 0
        var time = Duration.zero
        /// Without the time in which spans below ran.
        var own = Duration.zero
        var usage = SpanUsage()
    }

    private var tree = SpanTree()
    private var sums: [WorkKind: Sums] = [:]
    private var first = Timestamp(microseconds: .max)
    private var last = Timestamp(microseconds: .min)

    /// How long the whole trace took.
    var duration: Duration { tree.nodes.isEmpty ? .zero : last - first }

    /// Adds a span. They come in the order in which they began.
    mutating func add(_ span: TraceSpan) {
        let kind = WorkKind(name: span.name, feature: span.feature)
        sums[kind, default: Sums()].count += 1
        if span.failure != nil { sums[kind]?.failures += 1 }
        sums[kind]?.time += span.duration
        sums[kind]?.usage.add(SpanUsage(span))
        (first, last) = (min(first, span.start), max(last, span.end))
        tree.add(span)
    }

    /// The sums of each kind of work.
    func finished() -> [WorkKind: Sums] {
        var sums = sums
        for (node, own) in zip(tree.nodes, tree.own(tree.parents())) { sums[node.kind]?.own += own }
        return sums
    }
}

/// A kind of work in two traces.
struct ComparisonRow: Record {
    private let kind: WorkKind
    private let first: TraceWork.Sums?
    private let second: TraceWork.Sums?

    /// The rows of two traces: the largest change of time first.
    static func rows(_ first: TraceWork, _ second: TraceWork) -> [ComparisonRow] {
        let (first, second) = (first.finished(), second.finished())
        let rows = Set(first.keys).union(second.keys).map {
            ComparisonRow(kind: $0, first: first[$0], second: second[$0])
        }
        return rows.sorted { left, right in
            let (before, after) = (left.size, right.size)
            if before != after { return before > after }
            return (left.kind.name, left.kind.feature) < (right.kind.name, right.kind.feature)
        }
    }

    private var size: Duration {
        let change = (second?.time ?? .zero) - (first?.time ?? .zero)
        return change < .zero ? .zero - change : change
    }

    /// The second less the first, in seconds, which may be less than zero.
    private func change(_ value: (TraceWork.Sums) -> Duration) -> Double {
        let change = (second.map(value) ?? .zero) - (first.map(value) ?? .zero)
        return (change / .microseconds(1)).rounded() / 1e6
    }

    /// The same in words that look like the times beside it.
    private func changeInWords(_ value: (TraceWork.Sums) -> Duration) -> String {
        let seconds = change(value)
        return (seconds > 0 ? "+" : seconds < 0 ? "-" : "") + Duration.roundedWords(seconds: abs(seconds))
    }

    private func change(_ value: (TraceWork.Sums) -> Int) -> Int { (second.map(value) ?? 0) - (first.map(value) ?? 0) }

    static let fields: [Field<ComparisonRow>] =
        [
            Field("name", "Kind of work", .name) { PlainText.escape($0.kind.name, limit: 200) },
            Field("feature", "Feature that did it", .minor) { PlainText.escape($0.kind.feature, limit: 100) },
            Field("change", "How much longer all of it took in the second trace; with a minus if shorter") {
                $0.changeInWords(\.time)
            },
            Field("first_time", "Time of all together in the first trace") { $0.first?.time },
            Field("second_time", "Time of all together in the second trace") { $0.second?.time },
            Field("first_count", "How often it was done in the first trace") { $0.first?.count },
            Field("second_count", "How often it was done in the second trace") { $0.second?.count },
            Field("only", "first or second, if it is in one trace only") {
                $0.first == nil ? "second" : $0.second == nil ? "first" : String?.none
            },
            Field("own_change", "The same as change, without the time of spans below it", .minor) {
                $0.changeInWords(\.own)
            },
            Field("change_seconds", "The same as change, in seconds", .detail) { $0.change(\.time) },
            Field("own_change_seconds", "The same as own_change, in seconds", .detail) { $0.change(\.own) },
            Field("first_own", "Time in the first trace without that of spans below it", .detail) { $0.first?.own },
            Field("second_own", "Time in the second trace without that of spans below it", .detail) { $0.second?.own },
            Field("count_change", "How much more often it was done in the second trace", .detail) {
                $0.change(\.count)
            },
        ] + failures + usage

    private static let failures: [Field<ComparisonRow>] = [
        Field("first_failures", "How often it failed in the first trace", .detail) { $0.first?.failures },
        Field("second_failures", "How often it failed in the second trace", .detail) { $0.second?.failures },
        Field("failures_change", "How much more often it failed in the second trace", .minor) { $0.change(\.failures) },
    ]

    private static let usage: [Field<ComparisonRow>] = [
        Field("first_tokens", "Tokens of models in the first trace", .detail) { $0.first?.usage.tokensIfAny },
        Field("second_tokens", "Tokens of models in the second trace", .detail) { $0.second?.usage.tokensIfAny },
        Field("tokens_change", "How many more tokens the second trace used", .minor) { row in
            let change = row.change(\.usage.tokens)
            return change == 0 ? Int?.none : change
        },
        Field("first_cost_usd", "Cost of the first trace in US dollars", .detail) { $0.first?.usage.costIfAny },
        Field("second_cost_usd", "Cost of the second trace in US dollars", .detail) { $0.second?.usage.costIfAny },
        Field("cost_change", "How many US dollars more the second trace cost", .detail) { row in
            let change = row.change(\.usage.nanodollars)
            return change == 0 ? Double?.none : Double(change) / 1e9
        },
    ]
}
