import Capabilities
import JSON

/// What `martlet gateway status` shows.
struct GatewayHealth: Record {
    enum State: String, Choice {
        case ok, down
        /// It answers, and says that something is wrong.
        case degraded
    }

    var address: String
    var state = State.down
    var version: String?
    var sessions: Int?
    var uptime: Duration?
    var latency: Duration?
    var process: Int?
    var started: Timestamp?
    var reason: String?
    var mend: String?

    init(address: String) {
        self.address = address
    }

    var exit: ExitCode { state == .ok ? .done : .unreachable }

    /// Takes over what the gateway answered.
    ///
    /// - Parameter isOwn: whether it is the one that other commands here can end.
    mutating func read(_ answer: JSON, isOwn: Bool) {
        let isHealthy = answer["status"]?.string == "healthy" || answer["ok"]?.bool == true
        state = isHealthy ? .ok : .degraded
        version = answer["version"]?.string.map { PlainText.escape(String($0.prefix(64))) }
        sessions = answer["active_sessions"]?.int
        uptime = answer["uptime_seconds"]?.double.flatMap { $0 >= 0 && $0 < 1e10 ? .seconds(Int64($0)) : nil }
        if !isHealthy {
            reason = answer["error"]?.string.map { PlainText.escape(String($0.prefix(500))) }
            mend = isOwn ? "end it and start it again: martlet gateway stop" : "see its own log"
        }
    }

    static let fields: [Field<GatewayHealth>] = [
        Field("address", "Where it listens", .name) { PlainText.escape($0.address) },
        Field("state", "ok, degraded or down", .state) { $0.state },
        Field("version", "Its version") { $0.version },
        Field("sessions", "Sessions in which something is being done") { $0.sessions },
        Field("uptime", "How long it has been there") { $0.uptime },
        Field("latency", "How long its answer took") { $0.latency.map { max(.milliseconds(1), $0.inMilliseconds) } },
        Field("pid", "Its process") { $0.process },
        Field("started", "When it was started") { $0.started },
        Field("reason", "What is wrong") { $0.reason },
        Field("mend", "What can be done") { $0.mend },
    ]
}

extension Duration {
    /// The nearest number of whole milliseconds: less says nothing to a person.
    var inMilliseconds: Duration { .milliseconds((self / .milliseconds(1)).rounded()) }
}
