import Capabilities
import TraceStore

/// The times of one kind of work.
struct FigureRow: Record {
    let row: OperationFigures

    init(_ row: OperationFigures) { self.row = row }

    static let fields: [Field<FigureRow>] = [
        Field("time", "When the period began, with --by") { $0.row.time },
        Field("name", "Kind of work", .name) { PlainText.escape($0.row.operation.name, limit: 200) },
        Field("count", "How often it was done") { $0.row.figures.count },
        Field("failures", "How often it failed") { $0.row.figures.failures },
        Field("p50", "Half of it takes at most this long, off by at most one percent") { $0.row.figures.quantile(0.5) },
        Field("p95", "Of a hundred, 95 take at most this long") { $0.row.figures.quantile(0.95) },
        Field("p99", "Of a hundred, 99 take at most this long") { $0.row.figures.quantile(0.99) },
        Field("longest", "The longest time") { Duration.nanoseconds($0.row.figures.longest) },
        Field("sum", "Time of all together", .minor) { Duration.nanoseconds($0.row.figures.sum) },
        Field("tokens", "Tokens that models read and wrote") { $0.row.figures.usage.tokensIfAny },
        Field("cost_usd", "What it cost in US dollars") { $0.row.figures.usage.costIfAny },
        Field("feature", "Feature that did it", .minor) { PlainText.escape($0.row.operation.feature, limit: 100) },
        Field("service", "Program that did it", .minor) { PlainText.escape($0.row.operation.service, limit: 100) },
        Field("received", "Whether other programs have sent it to 'trace serve'", .detail) {
            $0.row.operation.isReceived
        },
        Field("input_tokens", "Tokens that models read", .detail) {
            $0.row.figures.usage.isEmpty ? nil : $0.row.figures.usage.input
        },
        Field("output_tokens", "Tokens that models wrote", .detail) {
            $0.row.figures.usage.isEmpty ? nil : $0.row.figures.usage.output
        },
    ]

    /// The rows in order: by time, then that which took most in all first.
    static func sorted(_ rows: [OperationFigures]) -> [FigureRow] {
        rows.sorted { left, right in
            if left.time != right.time {
                return left.time ?? .init(microseconds: 0) < right.time ?? .init(microseconds: 0)
            }
            if left.figures.sum != right.figures.sum { return left.figures.sum > right.figures.sum }
            return left.operation.key < right.operation.key
        }.map(FigureRow.init)
    }
}

extension Operation {
    fileprivate var key: String { "\(name)\u{0}\(feature)\u{0}\(service)\u{0}\(isReceived)" }
}

extension SpanUsage {
    /// The tokens; nil for none, so that most work has an empty column.
    var tokensIfAny: Int? { tokens == 0 ? nil : tokens }
    /// The cost; nil for none.
    var costIfAny: Cost? { nanodollars == 0 ? nil : Cost(nanodollars: nanodollars) }
}
