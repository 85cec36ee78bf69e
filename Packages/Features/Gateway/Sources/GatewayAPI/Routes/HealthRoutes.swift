import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer

/// Whether the gateway lives, and where to begin.
struct HealthRoutes {
    let services: APIServices

    var all: [Route] {
        [
            health,
            Route(.get, "/", "root", "What this is and where to begin") { _ in Root(version: services.version) }
                .tagged("gateway"),
        ]
    }

    /// Watchers ask for it all the time.
    private var health: Route {
        let written = LastWritten<Health>()
        return Route(.get, "/health", "health", "Whether the gateway is well") { _ in written.answer(Health(services)) }
            .answering(.ok, Health.self, "Done").open().tagged("gateway")
    }
}

/// How the gateway is.
struct Health: Record, Equatable {
    let version: String
    let active: Int
    let uptime: Int

    init(_ services: APIServices) {
        version = services.version
        active = services.turns.runningSessionCount
        uptime = Int(services.uptime / .seconds(1))
    }

    static let fields: [Field<Health>] = [
        Field("status", "healthy", .state) { _ in "healthy" },
        Field("ok", "Whether all is well") { _ in true },
        Field("version", "Of the program") { $0.version },
        Field("active_sessions", "How many sessions have a turn running") { $0.active },
        Field("uptime_seconds", "Since the gateway began") { $0.uptime },
    ]
}

/// What stands at the root.
struct Root: Record {
    let version: String

    static let fields: [Field<Root>] = [
        Field("name", "Of the program") { _ in "martlet gateway" },
        Field("version", "Of the program") { $0.version },
        Field("links", "Where to go on") { _ in
            ["health": "/health", "models": "/v1/models", "openapi": "/openapi.json", "metrics": "/metrics"]
        },
    ]
}
