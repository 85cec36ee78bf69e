import Capabilities
import FileKit
import GatewayAPI
import GatewayTurns
import HTTPCore
import HTTPServer
import Registry
import Settings

/// What the gateway says of itself without running.
struct DescribingActions {
    let services: GatewayServices

    init(_ services: GatewayServices) {
        self.services = services
    }

    var all: [Action] { [routes, unit] }

    private var routes: Action {
        Action("gateway.routes", "List what the gateway answers", .reads) { context in
            try Self.routes(services, context).map(RouteRow.init)
        }
        .details("The same declarations route the requests and make GET /openapi.json, which has everything else.")
    }

    /// All that it would answer.
    static func routes(_ services: GatewayServices, _ context: ActionContext) throws -> [Route] {
        let live = LiveSettings(context, services.store)
        let api = APIServices(
            store: services.store, version: context.host.version, now: context.host.now, parts: live.parts)
        return try Routes(try gatewayRoutes(api)).all
    }

    private var unit: Action {
        Action(
            "gateway.unit", "Print a unit file for systemd", .reads,
            .argument(
                "part", "The service, or the socket that starts it when somebody connects", default: UnitPart.service)
        ) { context, part in
            let unit = SystemdUnit(
                program: try Files.canonical("/proc/self/exe"),
                address: services.settings[GatewaySettings.address], port: services.settings[GatewaySettings.port])
            return part == .service ? unit.service : unit.socket
        }
        .example("martlet gateway unit > ~/.config/systemd/user/martlet-gateway.service", "The service")
        .example("martlet gateway unit socket > ~/.config/systemd/user/martlet-gateway.socket", "Its socket")
    }
}

/// One route in the list.
struct RouteRow: Record {
    let route: Route

    init(_ route: Route) {
        self.route = route
    }

    static let fields: [Field<RouteRow>] = [
        Field("method", "The method") { $0.route.method.rawValue },
        Field("path", "The path, with its names in braces", .name) { $0.route.template },
        Field("summary", "What it does") { $0.route.summary },
        Field("open", "Whether it is answered without a token") { $0.route.isOpen },
        Field("scopes", "What a token has to have one of") { row in
            row.route.isOpen ? [] : ClientScope.allCases.filter(row.route.scopes.contains).map(\.rawValue)
        },
    ]
}
