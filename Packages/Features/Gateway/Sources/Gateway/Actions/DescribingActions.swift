import Capabilities
import FileKit
import GatewayAPI
import GatewayTurns
import HTTPCore
import HTTPServer
import Registry

/// Actions that describe the gateway without running it.
struct DescribingActions {
    let services: GatewayServices

    init(_ services: GatewayServices) {
        self.services = services
    }

    var all: [Action] { [routes, unit] }

    private var routes: Action {
        Action("gateway.routes", "List the gateway's HTTP routes", .reads) { context in
            try Self.routes(services, context).map(RouteRow.init)
        }
        .details("GET /openapi.json documents these routes in full.")
    }

    /// All routes that the gateway would serve.
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
                "part", "The service, or the socket that starts it on the first connection", default: UnitPart.service)
        ) { context, part in
            let unit = SystemdUnit(
                program: try Files.canonical("/proc/self/exe"),
                address: services.settings.address, port: services.settings.port)
            return part == .service ? unit.service : unit.socket
        }
        .example("martlet gateway unit > ~/.config/systemd/user/martlet-gateway.service", "Write the service unit")
        .example("martlet gateway unit socket > ~/.config/systemd/user/martlet-gateway.socket", "Write its socket unit")
    }
}

/// One route in the list.
struct RouteRow: Record {
    let route: Route

    init(_ route: Route) {
        self.route = route
    }

    static let fields: [Field<RouteRow>] = [
        Field("method", "HTTP method") { $0.route.method.rawValue },
        Field("path", "Path, with its parameters in braces", .name) { $0.route.template },
        Field("summary", "What the route does") { $0.route.summary },
        Field("open", "Whether it works without a token") { $0.route.isOpen },
        Field("scopes", "Scopes that allow it; a token needs one of them") { row in
            row.route.isOpen ? [] : ClientScope.allCases.filter(row.route.scopes.contains).map(\.rawValue)
        },
    ]
}

/// Which of the two unit files.
enum UnitPart: String, Choice { case service, socket }

/// The unit files with which systemd runs the gateway for a user.
struct SystemdUnit {
    let program: String
    let address: String
    let port: Int

    var service: String {
        """
        [Unit]
        Description=Martlet gateway

        [Service]
        Type=exec
        ExecStart=\(quoted(program)) gateway serve
        # When stopped, it first finishes the requests it is answering.
        TimeoutStopSec=20
        SuccessExitStatus=143
        Restart=on-failure
        NoNewPrivileges=yes

        [Install]
        WantedBy=default.target

        """
    }

    var socket: String {
        """
        [Unit]
        Description=Martlet gateway

        [Socket]
        ListenStream=\(address.contains(":") ? "[\(address)]" : address):\(port)

        [Install]
        WantedBy=sockets.target

        """
    }

    /// systemd allows few characters in the path of a program (systemd.service(5)). Any other path is passed to `env`
    /// as an argument, where `%` starts a specifier and `$` a variable.
    private func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "/._+-".utf8.contains(byte)
            }
        }
        if isPlain { return path }
        var text = ""
        for character in path {
            switch character {
            case "%": text += "%%"
            case "$": text += "$$"
            case "\\", "\"": text += "\\\(character)"
            default: text.append(character)
            }
        }
        return "/usr/bin/env \"\(text)\""
    }
}
