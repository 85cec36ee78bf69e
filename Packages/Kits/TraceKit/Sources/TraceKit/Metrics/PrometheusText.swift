/// Writes metrics in Prometheus' text format.
public struct PrometheusText {
    /// The metrics so far.
    public private(set) var text = ""

    /// The media type of the format.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// A page without metrics.
    public init() {}

    /// Starts a metric family.
    ///
    /// - Parameter kind: `counter`, `gauge` or `histogram`.
    public mutating func family(_ name: String, _ kind: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }

    /// Adds a sample.
    public mutating func number(_ name: String, _ value: String, _ labels: [(String, String)] = []) {
        text += name + Self.write(labels) + " \(value)\n"
    }

    /// Adds the samples of a histogram.
    public mutating func histogram(_ name: String, _ histogram: Histogram, _ labels: [(String, String)] = []) {
        var below = 0
        for (end, count) in zip(Histogram.ends, histogram.counts) {
            below += count
            number("\(name)_bucket", "\(below)", labels + [("le", "\(end)")])
        }
        number("\(name)_bucket", "\(histogram.count)", labels + [("le", "+Inf")])
        number("\(name)_sum", "\(histogram.sum)", labels)
        number("\(name)_count", "\(histogram.count)", labels)
    }

    private static func write(_ labels: [(String, String)]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0)=\"\(escape($1))\"" }.joined(separator: ",") + "}"
    }

    /// "label_value can be any sequence of UTF-8 characters, but the backslash (\), double-quote ("), and line feed (\n)
    /// characters have to be escaped".
    private static func escape(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
