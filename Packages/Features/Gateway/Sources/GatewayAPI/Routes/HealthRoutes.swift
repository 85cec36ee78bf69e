import Capabilities
import GatewayTurns
import HTTPCore
import HTTPServer

/// The health route and the root.
struct HealthRoutes {
    let services: APIServices

    var all: [Route] {
        [
            health,
            Route(.get, "/", "root", "Show the program and its main routes") { _ in Root(version: services.version) }
                .tagged("gateway"),
        ]
    }

    /// Monitoring requests it all the time, so the response is cached.
    private var health: Route {
        let written = LastWritten<Health>()
        return Route(.get, "/health", "health", "Check the gateway") { _ in written.answer(Health(services)) }
            .answering(.ok, Health.self, "The health").open().tagged("gateway")
    }
}

/// The health of the gateway.
struct Health: Record, Equatable {
    let version: String
    private let active: Int
    let uptime: Int

    init(_ services: APIServices) {
        version = services.version
        active = services.turns.runningSessionCount
        uptime = Int(services.uptime / .seconds(1))
    }

    static let fields: [Field<Health>] = [
        Field("status", "healthy", .state) { _ in "healthy" },
        Field("ok", "Whether the gateway is healthy") { _ in true },
        Field("version", "Version of the program") { $0.version },
        Field("active_sessions", "Number of sessions with a running turn") { $0.active },
        Field("uptime_seconds", "Seconds since the gateway started") { $0.uptime },
    ]
}

/// The response at the root.
struct Root: Record {
    let version: String

    static let fields: [Field<Root>] = [
        Field("name", "Name of the program") { _ in "martlet gateway" },
        Field("version", "Version of the program") { $0.version },
        Field("links", "Main routes") { _ in
            ["health": "/health", "models": "/v1/models", "openapi": "/openapi.json", "metrics": "/metrics"]
        },
    ]
}
