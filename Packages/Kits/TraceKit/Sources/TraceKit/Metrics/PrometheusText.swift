/// Metrics in Prometheus' text format.
public struct PrometheusText: Sendable {
    /// The page.
    public private(set) var text = ""

    /// The media type of the format.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// A page with these metrics.
    public init(_ families: [MetricFamily]) {
        for family in families {
            text += "# HELP \(family.name) \(family.help)\n# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples { add(sample, of: family.name) }
        }
    }

    private mutating func add(_ sample: MetricFamily.Sample, of name: String) {
        switch sample.value {
        case .whole(let number): addLine(name, "\(number)", sample.labels)
        case .number(let number): addLine(name, "\(number)", sample.labels)
        case .histogram(let histogram):
            var below = 0
            for (end, count) in zip(Histogram.ends, histogram.counts) {
                below += count
                addLine("\(name)_bucket", "\(below)", sample.labels + [("le", "\(end)")])
            }
            addLine("\(name)_bucket", "\(histogram.count)", sample.labels + [("le", "+Inf")])
            addLine("\(name)_sum", "\(histogram.sum)", sample.labels)
            addLine("\(name)_count", "\(histogram.count)", sample.labels)
        }
    }

    private mutating func addLine(_ name: String, _ value: String, _ labels: [(name: String, value: String)]) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.name)=\"\(Self.escape($0.value))\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    /// "label_value can be any sequence of UTF-8 characters, but the backslash (\), double-quote ("), and line feed (\n)
    /// characters have to be escaped".
    private static func escape(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
