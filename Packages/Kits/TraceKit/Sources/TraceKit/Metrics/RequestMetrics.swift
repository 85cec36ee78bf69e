public import Capabilities
import Synchronization

/// Counts the requests to an HTTP server, from its spans.
public final class RequestMetrics: SpanSink {
    private struct Request: Hashable {
        let method: String
        let route: String
        let status: Int
    }

    private struct Counts {
        var requests: [Request: Int] = [:]
        var durations: [String: Histogram] = [:]
    }

    private let counts = Mutex(Counts())

    /// Metrics in which every count is zero.
    public init() {}

    public var countsAll: Bool { true }

    /// Counts the request that a span of the server is about. Other spans are ignored.
    public func record(_ span: SpanRecord) {
        guard span.kind == .server, case .string(let route)? = span[.httpRoute] else { return }
        var (method, status) = ("", 0)
        if case .string(let word)? = span[.httpMethod] { method = word }
        if case .int(let code)? = span[.httpStatus] { status = code }
        // A client can send any word as the method, and each would become a separate series.
        let request = Request(
            method: Self.methods.contains(method) ? method : "other", route: route, status: status)
        let duration = span.duration
        counts.withLock { counts in
            counts.requests[request, default: 0] += 1
            counts.durations[request.route, default: Histogram()].add(duration)
        }
    }

    /// The families `martlet_http_requests_total` and `martlet_http_request_duration_seconds`.
    public var families: [MetricFamily] {
        let counts = counts.withLock { $0 }
        let requests = counts.requests.map { request, count in
            ([("method", request.method), ("route", request.route), ("status", "\(request.status)")], count)
        }.sorted { "\($0.0)" < "\($1.0)" }
        return [
            MetricFamily(
                "martlet_http_requests_total", .counter, "Requests by method, route and status",
                requests.map { MetricFamily.Sample(.whole($0.1), $0.0) }),
            MetricFamily(
                "martlet_http_request_duration_seconds", .histogram,
                "Duration of requests; for streams until their end",
                unit: "s",
                counts.durations.sorted { $0.key < $1.key }.map { route, histogram in
                    MetricFamily.Sample(.histogram(histogram), [("route", route)])
                }),
        ]
    }

    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
}
