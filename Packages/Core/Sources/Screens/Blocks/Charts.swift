public import Capabilities
import JSON

/// Series of numbers.
public struct Chart: BlockContent, Hashable {
    static let kind = "chart"

    /// How the numbers are drawn.
    public enum Form: String, Choice {
        /// In this order: lines, filled areas, bars, and one row of small bars.
        case line, area, bars, sparkline
    }

    /// A series of numbers.
    public struct Series: Record, Hashable {
        /// Its name.
        public let name: String
        /// The numbers. One that is missing is not finite.
        public let values: [Double]

        /// A named series.
        public init(_ name: String, _ values: [Double]) {
            self.name = name
            self.values = values
        }

        public static let fields: [Field<Series>] = [
            Field("name", "Its name", .name) { $0.name },
            Field("values", "The numbers; null where one is missing") { series in
                series.values.map { $0.isFinite ? $0 : nil }
            },
        ]
    }

    /// How the numbers are drawn.
    public let form: Form
    /// The series, drawn in the tokens `chart-1` to `chart-5`.
    public let series: [Series]
    /// What each position of the horizontal axis is called.
    public let labels: [String]
    /// The unit of the numbers, such as `tokens` or `%`; nil for none.
    public let unit: String?

    /// By default the positions have no labels.
    public init(_ form: Form, _ series: [Series], labels: [String] = [], unit: String? = nil) {
        self.form = form
        self.series = series
        self.labels = labels
        self.unit = unit
    }

    public static let fields: [Field<Chart>] = [
        Field("form", "How the numbers are drawn") { $0.form },
        Field("series", "The series") { $0.series },
        Field("labels", "What each position of the horizontal axis is called") { $0.labels },
        Field("unit", "The unit of the numbers") { $0.unit },
    ]

    var size: BlockSize {
        let names = labels + series.map(\.name) + [unit ?? ""]
        return BlockSize(
            nodes: series.reduce(labels.count) { $0 + 1 + $1.values.count },
            bytes: names.reduce(0) { $0 + $1.utf8.count })
    }
}

/// A number within a range.
public struct Gauge: BlockContent, Hashable {
    static let kind = "gauge"
    /// The number.
    public let value: Double
    /// The end of the range, which begins at zero.
    public let limit: Double
    /// The unit, such as `%`; nil for none.
    public let unit: String?
    /// From which part of the range on it is a warning, and a failure: 0.8 means 80 %.
    public let warning, failure: Double?

    /// By default no part of the range is a warning.
    public init(_ value: Double, of limit: Double, unit: String? = nil, warning: Double? = nil, failure: Double? = nil)
    {
        self.value = value
        self.limit = limit
        self.unit = unit
        self.warning = warning
        self.failure = failure
    }

    public static let fields: [Field<Gauge>] = [
        Field("value", "The number") { $0.value },
        Field("limit", "The end of the range, which begins at zero") { $0.limit },
        Field("unit", "The unit") { $0.unit },
        Field("warning", "From which part of the range on it is a warning") { $0.warning },
        Field("failure", "From which part of the range on it is a failure") { $0.failure },
    ]

    var size: BlockSize { BlockSize(bytes: unit?.utf8.count ?? 0) }
}

/// How far something is.
public struct ProgressBar: BlockContent, Hashable {
    static let kind = "progress"
    /// What is being done.
    public let activity: String
    /// How much is done; nil if that is not known.
    public let completed: Int?
    /// How much there is to do; nil if that is not known.
    public let total: Int?

    /// By default it is not known how much there is to do.
    public init(_ activity: String, completed: Int? = nil, of total: Int? = nil) {
        self.activity = activity
        self.completed = completed
        self.total = total
    }

    public static let fields: [Field<ProgressBar>] = [
        Field("activity", "The activity, such as copying", .name) { $0.activity },
        Field("completed", "How much is done") { $0.completed },
        Field("total", "How much there is to do") { $0.total },
    ]

    var size: BlockSize { BlockSize(bytes: activity.utf8.count) }
}
