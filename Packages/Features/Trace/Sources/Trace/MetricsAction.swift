import Capabilities
import Glibc
import JSON
import Registry
import TraceKit
import TraceStore

/// `martlet trace metrics`
struct MetricsAction: Sendable {
    let store: TraceStore

    var action: Action {
        Action("trace.metrics", "List what other programs measure, newest first", .reads, taking: MetricArguments.self)
        {
            [store] context, arguments in
            let (metrics, total) = try await store.metrics(arguments.query)
            return context.rows(
                metrics.map(MetricRow.init), of: total, on: arguments.query,
                orSay: "no metrics were received that match; 'martlet trace serve' takes them")
        }
        .details(
            "The newest value of each metric that a program has sent to 'trace serve', for each combination of its attributes. "
                + "What a program sends as increases is added up. Histograms and summaries have a number of values and their sum."
        )
        .example("martlet trace metrics --sort name", "All by name")
        .example("martlet trace metrics --text duration --service shop", "The durations of one program")
    }
}

/// A series of a metric in a list.
private struct MetricRow: Record {
    let stored: StoredMetric

    init(_ stored: StoredMetric) {
        self.stored = stored
    }

    static let fields: [Field<MetricRow>] = [
        Field("name", "Name of the metric", .name) { PlainText.escape($0.stored.point.name, limit: 200) },
        Field("value", "Newest value with its unit; of many values their number and mean") { $0.words },
        Field("attributes", "What the value belongs to") { JSON.object($0.stored.point.attributes) },
        Field("service", "Program", .minor) {
            PlainText.escape($0.stored.resource["service.name"]?.string ?? "", limit: 100)
        },
        Field("time", "When it was measured") { $0.stored.point.time },
        Field("kind", "gauge, sum, histogram, exponential_histogram or summary", .detail) {
            $0.stored.point.kind.rawValue
        },
        Field("unit", "Unit in which it is measured", .detail) { PlainText.escape($0.stored.point.unit, limit: 100) },
        Field("number", "Value of a gauge or a sum", .detail) { $0.stored.point.number },
        Field("count", "Number of values of a histogram or a summary", .detail) { $0.stored.point.distribution?.count },
        Field("sum", "Sum of these values", .detail) { $0.stored.point.distribution?.sum },
        Field("min", "Smallest of these values", .detail) { $0.stored.point.distribution?.least },
        Field("max", "Largest of these values", .detail) { $0.stored.point.distribution?.most },
        Field("scope", "Library that measures it", .detail) { PlainText.escape($0.stored.point.scope, limit: 100) },
        Field("points", "How often it was received", .detail) { $0.stored.points },
        Field("process", "What measured it", .detail) { JSON.object($0.stored.resource) },
    ]

    private var words: String {
        switch stored.point.value {
        case .number(let number): measured(number)
        case .distribution(let facts):
            if let sum = facts.sum, facts.count > 0 {
                "\(facts.count) values, mean \(measured(sum / Double(facts.count)))"
            } else {
                "\(facts.count) values"
            }
        }
    }

    /// A number with its unit. OpenTelemetry has `1` for none and `{request}` for things that are counted.
    private func measured(_ number: Double) -> String {
        let unit = PlainText.escape(stored.point.unit, limit: 50).filter { $0 != "{" && $0 != "}" }
        return number.rounded(toDigits: 6) + (unit.isEmpty || unit == "1" ? "" : " \(unit)")
    }
}

extension Double {
    /// A text with as many digits as matter to a reader. A whole number has all of its digits.
    fileprivate func rounded(toDigits digits: Int) -> String {
        if let whole = Int(exactly: self) { return "\(whole)" }
        let scale = pow(10, Double(digits - 1) - log10(abs(self)).rounded(.down))
        let rounded = (self * scale).rounded() / scale
        return rounded.isFinite && rounded != 0 ? "\(rounded)" : "\(self)"
    }
}

/// The arguments of `trace.metrics`.
private struct MetricArguments: ActionArguments {
    private(set) var query = MetricQuery()

    static let bindings =
        [
            bind(\.query.text, .option("text", "Only metrics whose name contains this text")),
            bind(\.query.service, .option("service", "Only metrics of this program")),
            bind(\.query.order, .option("sort", "Order: the newest first, or by name", default: .time)),
        ] + pages(of: \.query)
}
