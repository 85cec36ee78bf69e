import Capabilities
import HTTPClient
import JSON

/// A server as lists show it.
struct ServerRow: Record {
    let name: String
    let server: String
    let kind: ServerKind
    let inUse: Bool
    let authority: String?

    init(_ profile: ServerProfile, inUse: Bool) {
        name = profile.name
        server = profile.url.text
        kind = profile.kind
        self.inUse = inUse
        authority = profile.authority
    }

    static let fields: [Field<ServerRow>] = [
        Field("name", "What it is called", .name) { $0.name },
        Field("server", "Where its API is") { $0.server },
        Field("kind", "What it is") { $0.kind },
        Field("in_use", "Whether commands mean it when they name none") { $0.inUse },
        Field("cacert", "The file with the authorities that count for it alone") { row in
            row.authority.map { PlainText.escape($0) }
        },
    ]
}

/// What a server says about itself.
struct ServerHealth: Record {
    let name: String
    let server: String
    let state: String
    let version: String?
    let sessions: Int?
    let uptime: Duration?
    let latency: Duration

    init(_ profile: ServerProfile, _ health: JSONObject, latency: Duration) {
        name = profile.name
        server = profile.url.text
        let words = health["status"]?.string.map { PlainText.escape(String($0.prefix(40))) }
        let isWell =
            words.map { ["ok", "healthy", "up", "pass"].contains($0.lowercased()) } ?? (health["ok"]?.bool ?? true)
        state = isWell ? "ok" : words ?? "failed"
        version = health["version"]?.string.map { PlainText.escape(String($0.prefix(80))) }
        sessions = health["active_sessions"]?.int
        uptime = (health["uptime_seconds"] ?? health["uptime"])?.double.map { .seconds($0) }
        // More than milliseconds would be noise.
        self.latency = .milliseconds((latency / .milliseconds(1)).rounded(.up))
    }

    var exit: ExitCode { state == "ok" ? .done : .failed }

    static let fields: [Field<ServerHealth>] = [
        Field("name", "What it is called", .name) { $0.name },
        Field("state", "ok, or what the server says instead", .state) { $0.state },
        Field("server", "Where its API is") { $0.server },
        Field("version", "The server's version") { $0.version },
        Field("active_sessions", "How many sessions are active") { $0.sessions },
        Field("uptime", "How long it has been running") { $0.uptime },
        Field("latency", "How long the answer took") { $0.latency },
    ]
}
