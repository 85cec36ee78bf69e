public import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON
import Synchronization
import TurnLoop

/// Counts requests and turns. The server's spans report the requests, and the routes report the turns.
public final class GatewayMetrics: SpanSink {
    struct Request: Hashable {
        let method: String
        let route: String
        let status: Int
    }

    struct Counts {
        var requests: [Request: Int] = [:]
        var durations: [String: Histogram] = [:]
        /// The number of turns by how they ended.
        var turns: [String: Int] = [:]
        var turnDurations = Histogram()
        /// The number of tokens by model.
        var input: [String: Int] = [:]
        var output: [String: Int] = [:]
        var nanodollars = 0
        var calls = 0
        var failedCalls = 0
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
        let seconds = span.duration / .seconds(1)
        counts.withLock { counts in
            counts.requests[request, default: 0] += 1
            counts.durations[request.route, default: Histogram()].add(seconds)
        }
    }

    /// Counts an ended turn or completion.
    func count(_ report: TurnReport, took duration: Duration) {
        let (usage, model) = (report.outcome.usage, report.place.name)
        counts.withLock { counts in
            counts.turns[report.endWord, default: 0] += 1
            counts.turnDurations.add(duration / .seconds(1))
            if let tokens = usage.inputTokens { counts.input[model, default: 0] += tokens }
            if let tokens = usage.outputTokens { counts.output[model, default: 0] += tokens }
            counts.nanodollars += usage.cost?.nanodollars ?? 0
            counts.calls += report.outcome.calls
            counts.failedCalls += report.outcome.failedCalls
        }
    }

    /// Counts a stream whose client disconnected before its end.
    func countVanished() {
        counts.withLock { $0.turns["vanished", default: 0] += 1 }
    }

    var snapshot: Counts { counts.withLock { $0 } }

    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
}

extension TurnReport {
    fileprivate var endWord: String {
        if failure != nil { return "failed" }
        return switch outcome.end {
        case .answered: "answered"
        case .stopped: "stopped"
        case .failed, .roundLimit: "failed"
        }
    }
}

/// A histogram of durations, with steps for both a quick lookup and a long answer of a model.
struct Histogram: Sendable {
    /// The upper bounds in seconds. Longer durations are only in `count`.
    static let ends = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

    private(set) var counts = [Int](repeating: 0, count: Self.ends.count)
    private(set) var count = 0
    private(set) var sum = 0.0

    mutating func add(_ seconds: Double) {
        if let place = Self.ends.firstIndex(where: { seconds <= $0 }) { counts[place] += 1 }
        count += 1
        sum += seconds
    }
}

/// Serves the metrics for Prometheus.
struct MetricsRoute {
    let services: APIServices

    var all: [Route] {
        [
            Route(.get, "/metrics", "metrics", "Get metrics in Prometheus' text format") { _ in
                HTTPAnswer.bytes(Array(page.utf8), type: "text/plain; version=0.0.4; charset=utf-8")
            }
            .tagged("gateway").answering(.ok, type: "text/plain", "The metrics")
        ]
    }

    private var page: String {
        let counts = services.metrics.snapshot
        var page = PrometheusText()
        page.family("martlet_info", "gauge", "Version of the program")
        page.number("martlet_info", "1", [("version", services.version)])
        page.family("martlet_uptime_seconds", "gauge", "Time since the gateway started")
        page.number("martlet_uptime_seconds", "\(services.uptime / .seconds(1))")
        requests(counts, into: &page)
        turns(counts, into: &page)
        return page.text
    }

    private func requests(_ counts: GatewayMetrics.Counts, into page: inout PrometheusText) {
        page.family("martlet_http_requests_total", "counter", "Requests by method, route and status")
        let lines = counts.requests.map { request, count in
            ([("method", request.method), ("route", request.route), ("status", "\(request.status)")], count)
        }
        for (labels, count) in lines.sorted(by: { "\($0.0)" < "\($1.0)" }) {
            page.number("martlet_http_requests_total", "\(count)", labels)
        }
        page.family(
            "martlet_http_request_duration_seconds", "histogram", "Duration of requests; for streams until their end")
        for (route, histogram) in counts.durations.sorted(by: { $0.key < $1.key }) {
            page.histogram("martlet_http_request_duration_seconds", histogram, [("route", route)])
        }
    }

    private func turns(_ counts: GatewayMetrics.Counts, into page: inout PrometheusText) {
        page.family("martlet_turns_running", "gauge", "Turns and completions running now")
        page.number("martlet_turns_running", "\(services.turns.running)")
        page.family("martlet_turns_total", "counter", "Turns and completions by how they ended")
        for (end, count) in counts.turns.sorted(by: { $0.key < $1.key }) {
            page.number("martlet_turns_total", "\(count)", [("end", end)])
        }
        page.family("martlet_turn_duration_seconds", "histogram", "Duration of turns and completions")
        page.histogram("martlet_turn_duration_seconds", counts.turnDurations)
        page.family("martlet_tokens_total", "counter", "Tokens read and written by models, as far as reported")
        for (kind, tokens) in [("input", counts.input), ("output", counts.output)] {
            for (model, count) in tokens.sorted(by: { $0.key < $1.key }) {
                page.number("martlet_tokens_total", "\(count)", [("direction", kind), ("model", model)])
            }
        }
        page.family("martlet_cost_dollars_total", "counter", "Cost of answers, as far as known")
        page.number("martlet_cost_dollars_total", "\(Double(counts.nanodollars) / 1e9)")
        page.family("martlet_tool_calls_total", "counter", "Tool calls by result")
        page.number("martlet_tool_calls_total", "\(counts.calls - counts.failedCalls)", [("result", "ok")])
        page.number("martlet_tool_calls_total", "\(counts.failedCalls)", [("result", "error")])
    }
}

/// Writes metrics in Prometheus' text format.
struct PrometheusText {
    private(set) var text = ""

    /// Starts a metric family.
    mutating func family(_ name: String, _ kind: String, _ help: String) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
    }

    mutating func number(_ name: String, _ value: String, _ labels: [(String, String)] = []) {
        text += name + Self.write(labels) + " \(value)\n"
    }

    mutating func histogram(_ name: String, _ histogram: Histogram, _ labels: [(String, String)] = []) {
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
