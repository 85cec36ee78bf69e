import JSON

/// The addresses of the collectors that get what a process records by itself.
public struct CollectorAddresses: Sendable, Hashable {
    /// Where its spans go, if anywhere.
    public var spans: String?
    /// Where its entries of the log go, if anywhere.
    public var logs: String?

    /// By default nothing is sent.
    public init(spans: String? = nil, logs: String? = nil) {
        (self.spans, self.logs) = (spans, logs)
    }

    /// Reads the members of a line.
    init(_ line: JSON) {
        (spans, logs) = (line["collector"]?.string, line["log_collector"]?.string)
    }

    /// Adds the members to a line.
    func write(to line: inout JSONObject) {
        line["collector"] = spans.map { .string($0) }
        line["log_collector"] = logs.map { .string($0) }
    }
}
