import GatewayTurns
import HTTPCore
import HTTPServer
import TraceKit

/// Serves the metrics for Prometheus.
struct MetricsRoute {
    let services: APIServices

    var all: [Route] {
        [
            Route(.get, "/metrics", "metrics", "Get metrics in Prometheus' text format") { _ in
                HTTPAnswer.bytes(Array(page.utf8), type: PrometheusText.contentType)
            }
            .tagged("gateway").answering(.ok, type: "text/plain", "The metrics")
        ]
    }

    private var page: String {
        var page = PrometheusText()
        page.family("martlet_info", "gauge", "Version of the program")
        page.number("martlet_info", "1", [("version", services.version)])
        page.family("martlet_uptime_seconds", "gauge", "Time since the gateway started")
        page.number("martlet_uptime_seconds", "\(services.uptime / .seconds(1))")
        services.requests.write(into: &page)
        services.metrics.write(running: services.turns.running, into: &page)
        return page.text
    }
}
