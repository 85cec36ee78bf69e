/// What a request of OTLP has.
public enum OTLPSignal: String, Sendable, CaseIterable {
    /// Spans.
    case traces
    /// Entries of the log.
    case logs
    /// Data points of metrics.
    case metrics

    /// The members of its requests in JSON, from the outside in.
    var members: (resources: StaticString, scopes: StaticString, items: StaticString) {
        switch self {
        case .traces: ("resourceSpans", "scopeSpans", "spans")
        case .logs: ("resourceLogs", "scopeLogs", "logRecords")
        case .metrics: ("resourceMetrics", "scopeMetrics", "metrics")
        }
    }

    /// What an answer calls those that were rejected.
    var rejected: String {
        switch self {
        case .traces: "rejectedSpans"
        case .logs: "rejectedLogRecords"
        case .metrics: "rejectedDataPoints"
        }
    }
}
