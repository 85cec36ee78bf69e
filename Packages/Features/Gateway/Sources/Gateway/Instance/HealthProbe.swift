import Capabilities
import Cryptography
import HTTPClient
import HTTPCore
import JSON
import ProcessKit
import Registry

/// Checks the health of a gateway.
struct HealthProbe: Sendable {
    let services: GatewayServices

    /// Checks the gateway that announced its address and certificate on this machine.
    func look(at state: InstanceState) async -> GatewayHealth {
        var health = await look(at: state.addresses.first ?? "", Self.trust(in: state), isOwn: true)
        health.process = Int(state.process.process)
        health.started = state.started
        return health
    }

    /// Whether that gateway accepts a token. When it does not know a token, it reads the stored one again.
    func isAccepted(_ token: Secret, by state: InstanceState) async throws -> Bool {
        // It reads the stored token at most once a second, and another client may have made it do so a moment ago.
        for attempt in 0..<4 {
            if attempt > 0 { try await services.surroundings.clock.sleep(for: .milliseconds(400)) }
            let response = try await send("/", to: state.addresses.first ?? "", Self.trust(in: state), token)
            if response.status.code != 401 { return response.status.isSuccess }
        }
        return false
    }

    /// What that gateway says about the body of a request to a model.
    func debug(_ body: JSON, _ token: Secret, at state: InstanceState) async throws -> JSON {
        let response = try await send(
            "/v1/chat/completions/debug", to: state.addresses.first ?? "", Self.trust(in: state), token, body)
        return try JSON(parsing: try response.requireSuccess().body)
    }

    private static func trust(in state: InstanceState) -> TrustDomain {
        var trust = TrustDomain()
        // The issuer does not matter, because the fingerprint is known.
        trust.judge = { certificate in
            Hexadecimal.encode(certificate.fingerprint) == state.fingerprint
                ? .accepted : .refused("the certificate is not the one that the gateway announced")
        }
        return trust
    }

    /// Checks another gateway. Its certificate is verified like that of any server.
    func look(at address: String, _ context: ActionContext) async -> GatewayHealth {
        let store = context.registry.optional((any TrustStore).self)
        return await look(at: address, store.map { TrustDomain($0) } ?? TrustDomain(), isOwn: false)
    }

    private func look(at address: String, _ trust: TrustDomain, isOwn: Bool) async -> GatewayHealth {
        var health = GatewayHealth(address: address)
        do {
            let stopwatch = Stopwatch(services.surroundings.clock)
            let response = try await send("/health", to: address, trust).requireSuccess()
            health.latency = stopwatch.time()
            health.read(try JSON(parsing: response.body), isOwn: isOwn)
        } catch {
            let failure = AnyFailure(error)
            health.state = .down
            health.reason = failure.message
            health.mend = Self.mend(failure.code, isOwn: isOwn)
        }
        return health
    }

    private func send(
        _ path: String, to address: String, _ trust: TrustDomain, _ token: Secret? = nil, _ body: JSON? = nil
    ) async throws -> HTTPResponse {
        var configuration = HTTPClient.Configuration()
        configuration.trust = trust
        configuration.feature = "gateway"
        configuration.tracer = .current
        // Only the own gateway gets a token.
        configuration.sendsTraceparent = token != nil
        let client = HTTPClient(configuration)
        let result: Result<HTTPResponse, any Error>
        do {
            result = .success(try await client.send(request(path, address, token, body)))
        } catch {
            result = .failure(error)
        }
        await client.close()
        return try result.get()
    }

    private func request(
        _ path: String, _ address: String, _ token: Secret?, _ body: JSON?
    ) throws -> HTTPRequest {
        var request: HTTPRequest
        if address.hasPrefix("unix:") {
            request = HTTPRequest(.get, try HTTPURL("http://localhost\(path)"))
            request.unixSocket = String(address.dropFirst(5))
        } else {
            request = HTTPRequest(.get, try HTTPURL(address, assuming: .http).resolving(path))
        }
        if let body {
            request.method = .post
            request.headers["Content-Type"] = "application/json"
            request.body = .bytes(Array(body.text().utf8))
        }
        token?.withText { request.headers["Authorization"] = "Bearer \($0)" }
        request.retry = .none
        request.limits.connect = .seconds(3)
        request.limits.total = .seconds(5)
        request.limits.body = 1 << 20
        return request
    }

    private static func mend(_ code: String, isOwn: Bool) -> String {
        switch code {
        case "http.refused" where isOwn: "start it with 'martlet gateway serve'"
        case "http.refused": "nothing listens there; start it on that machine with 'martlet gateway serve'"
        case "http.certificate": "check the certificate with 'martlet auth trust verify ADDRESS'"
        case "http.status": "another program answers there; see its log, or set gateway.port to another port"
        case "http.bad-answer", "json": "another program answers there; set gateway.port to another port"
        case _ where isOwn: "stop it with 'martlet gateway stop' and start it again"
        default: "check the address; without one, 'martlet gateway status' checks the gateway of this machine"
        }
    }
}

/// What `martlet gateway status` shows.
struct GatewayHealth: Record {
    enum State: String, Choice {
        case ok, down
        /// It responds, but reports a problem.
        case degraded
    }

    var address: String
    var state = State.down
    var version: String?
    var sessions: Int?
    private var uptime: Duration?
    var latency: Duration?
    var process: Int?
    var started: Timestamp?
    var reason: String?
    var mend: String?

    init(address: String) {
        self.address = address
    }

    var exit: ExitCode { state == .ok ? .done : .unreachable }

    /// Reads the gateway's response.
    ///
    /// - Parameter isOwn: Whether it is the gateway of this machine, which 'martlet gateway stop' can stop.
    mutating func read(_ answer: JSON, isOwn: Bool) {
        let isHealthy = answer["status"]?.string == "healthy" || answer["ok"]?.bool == true
        state = isHealthy ? .ok : .degraded
        version = answer["version"]?.string.map { PlainText.escape(String($0.prefix(64))) }
        sessions = answer["active_sessions"]?.int
        uptime = answer["uptime_seconds"]?.double.flatMap { $0 >= 0 && $0 < 1e10 ? .seconds(Int64($0)) : nil }
        if !isHealthy {
            reason = answer["error"]?.string.map { PlainText.escape(String($0.prefix(500))) }
            mend = isOwn ? "stop it with 'martlet gateway stop' and start it again" : "see its log"
        }
    }

    static let fields: [Field<GatewayHealth>] = [
        Field("address", "Address it listens on", .name) { PlainText.escape($0.address) },
        Field("state", "ok, degraded or down", .state) { $0.state },
        Field("version", "Version of the gateway") { $0.version },
        Field("sessions", "Number of sessions with a running turn") { $0.sessions },
        Field("uptime", "Time since it started") { $0.uptime },
        Field("latency", "Response time") { $0.latency.map { max(.milliseconds(1), $0.inMilliseconds) } },
        Field("pid", "Process id") { $0.process },
        Field("started", "Start time") { $0.started },
        Field("reason", "What the problem is") { $0.reason },
        Field("mend", "How to fix it") { $0.mend },
    ]
}

extension Duration {
    /// Rounded to whole milliseconds, since fractions mean nothing to a reader.
    var inMilliseconds: Duration { .milliseconds((self / .milliseconds(1)).rounded()) }
}
