import Capabilities
import Cryptography
import HTTPClient
import HTTPCore
import JSON
import ProcessKit
import Registry

/// Asks a gateway how it is.
struct HealthProbe: Sendable {
    let services: GatewayServices

    /// Of one that said where it is, and which certificate it has.
    func look(at state: InstanceState) async -> GatewayHealth {
        var health = await look(at: state.addresses.first ?? "", Self.trust(in: state), isOwn: true)
        health.process = Int(state.process.process)
        health.started = state.started
        return health
    }

    /// Whether that one takes a token. It looks at what was stored when it does not know it.
    func isAccepted(_ token: Secret, by state: InstanceState) async throws -> Bool {
        // It looks once a second at most, and another client may have had it look a moment ago.
        for attempt in 0..<4 {
            if attempt > 0 { try await services.surroundings.clock.sleep(for: .milliseconds(400)) }
            let response = try await send("/", to: state.addresses.first ?? "", Self.trust(in: state), token)
            if response.status.code != 401 { return response.status.isSuccess }
        }
        return false
    }

    private static func trust(in state: InstanceState) -> TrustDomain {
        var trust = TrustDomain()
        // Who made the certificate matters to nobody who knows which one it is.
        trust.judge = { certificate in
            Hexadecimal.encode(certificate.fingerprint) == state.fingerprint
                ? .accepted : .refused("the certificate is not the one that the gateway said it has")
        }
        return trust
    }

    /// Of any other, whose certificate is judged as that of every server.
    func look(at address: String, _ context: ActionContext) async -> GatewayHealth {
        let store = context.registry.optional((any TrustStore).self)
        return await look(at: address, store.map { TrustDomain($0) } ?? TrustDomain(), isOwn: false)
    }

    private func look(at address: String, _ trust: TrustDomain, isOwn: Bool) async -> GatewayHealth {
        var health = GatewayHealth(address: address)
        do {
            let start = services.surroundings.clock.measure()
            let response = try await send("/health", to: address, trust).requireSuccess()
            health.latency = start()
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
        _ path: String, to address: String, _ trust: TrustDomain, _ token: Secret? = nil
    ) async throws -> HTTPResponse {
        var configuration = HTTPClient.Configuration()
        configuration.trust = trust
        configuration.feature = "gateway"
        let client = HTTPClient(configuration)
        let result: Result<HTTPResponse, any Error>
        do {
            result = .success(try await client.send(request(path, address, token)))
        } catch {
            result = .failure(error)
        }
        await client.close()
        return try result.get()
    }

    private func request(_ path: String, _ address: String, _ token: Secret?) throws -> HTTPRequest {
        var request: HTTPRequest
        if address.hasPrefix("unix:") {
            request = HTTPRequest(.get, try HTTPURL("http://localhost\(path)"))
            request.unixSocket = String(address.dropFirst(5))
        } else {
            request = HTTPRequest(.get, try HTTPURL(address, assuming: .http).resolving(path))
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
        case "http.refused" where isOwn: "start it: martlet gateway serve"
        case "http.refused": "nothing listens there; start it on that machine: martlet gateway serve"
        case "http.certificate": "look at the certificate: martlet auth trust verify ADDRESS"
        case "http.status": "something else answers there; see its own log, or choose another port: gateway.port"
        case "http.bad-answer", "json": "something else answers there; choose another port: gateway.port"
        case _ where isOwn: "end it and start it again: martlet gateway stop"
        default: "look at the address; without one, 'martlet gateway status' asks the gateway of this machine"
        }
    }
}

extension Clock where Duration == Swift.Duration {
    /// Begins to measure; the result says how long ago that was.
    fileprivate func measure() -> () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}

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
