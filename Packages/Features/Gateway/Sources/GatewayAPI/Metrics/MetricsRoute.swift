import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer

/// What the gateway has counted, for Prometheus.
struct MetricsRoute {
    let services: APIServices

    var all: [Route] {
        [
            Route(.get, "/metrics", "metrics", "What was counted, in Prometheus' text format") { _ in
                HTTPAnswer.bytes(Array(page.utf8), type: "text/plain; version=0.0.4; charset=utf-8")
            }
            .tagged("gateway").answering(.ok, type: "text/plain", "The numbers")
        ]
    }

    private var page: String {
        let counts = services.metrics.snapshot
        var page = PrometheusText()
        page.family("martlet_info", "gauge", "The version of the program")
        page.number("martlet_info", "1", [("version", services.version)])
        page.family("martlet_uptime_seconds", "gauge", "Since the gateway began")
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
            "martlet_http_request_duration_seconds", "histogram", "How long requests took, streams to their end")
        for (route, histogram) in counts.durations.sorted(by: { $0.key < $1.key }) {
            page.histogram("martlet_http_request_duration_seconds", histogram, [("route", route)])
        }
    }

    private func turns(_ counts: GatewayMetrics.Counts, into page: inout PrometheusText) {
        page.family("martlet_turns_running", "gauge", "Turns and completions that run now")
        page.number("martlet_turns_running", "\(services.turns.running)")
        page.family("martlet_turns_total", "counter", "Turns and completions by how they ended")
        for (end, count) in counts.turns.sorted(by: { $0.key < $1.key }) {
            page.number("martlet_turns_total", "\(count)", [("end", end)])
        }
        page.family("martlet_turn_duration_seconds", "histogram", "How long turns and completions took")
        page.histogram("martlet_turn_duration_seconds", counts.turnDurations)
        page.family("martlet_tokens_total", "counter", "Tokens that models read and wrote, as far as they told")
        for (kind, tokens) in [("input", counts.input), ("output", counts.output)] {
            for (model, count) in tokens.sorted(by: { $0.key < $1.key }) {
                page.number("martlet_tokens_total", "\(count)", [("direction", kind), ("model", model)])
            }
        }
        page.family("martlet_cost_dollars_total", "counter", "What answers cost, as far as it is known")
        page.number("martlet_cost_dollars_total", "\(Double(counts.nanodollars) / 1e9)")
        page.family("martlet_tool_calls_total", "counter", "Calls of tools by how they ended")
        page.number("martlet_tool_calls_total", "\(counts.calls - counts.failedCalls)", [("result", "ok")])
        page.number("martlet_tool_calls_total", "\(counts.failedCalls)", [("result", "error")])
    }
}
