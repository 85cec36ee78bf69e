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

/// Which file of the two.
enum UnitPart: String, Choice { case service, socket }

/// The files with which systemd runs the gateway for a user.
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
        # Interrupted, it finishes what it is answering.
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

    /// A program's own name may have few characters there (systemd.service(5)); any other is left to `env`, as an
    /// argument, in which `%` begins a specifier and `$` a variable.
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
