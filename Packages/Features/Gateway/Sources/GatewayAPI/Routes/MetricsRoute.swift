import GatewayTurns
import HTTPCore
import HTTPServer
public import TraceKit

/// Serves the metrics for Prometheus.
struct MetricsRoute {
    let services: APIServices

    var all: [Route] {
        [
            Route(.get, "/metrics", "metrics", "Get metrics in Prometheus' text format") { _ in
                HTTPAnswer.bytes(Array(PrometheusText(services.families).text.utf8), type: PrometheusText.contentType)
            }
            .tagged("gateway").answering(.ok, type: "text/plain", "The metrics")
        ]
    }
}

extension APIServices {
    /// What the gateway counts and measures, as it is now.
    public var families: [MetricFamily] {
        [
            MetricFamily("martlet_info", .gauge, "Version of the program", [.init(.whole(1), [("version", version)])]),
            MetricFamily(
                "martlet_uptime_seconds", .gauge, "Time since the gateway started", unit: "s",
                [.init(.number(uptime / .seconds(1)))]),
        ] + requests.families + metrics.families(running: turns.running)
    }
}
