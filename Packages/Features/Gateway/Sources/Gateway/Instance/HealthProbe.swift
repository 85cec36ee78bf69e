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
        var trust = TrustDomain()
        // Who made the certificate matters to nobody who knows which one it is.
        trust.judge = { certificate in
            Hexadecimal.encode(certificate.fingerprint) == state.fingerprint
                ? .accepted : .refused("the certificate is not the one that the gateway said it has")
        }
        let address = state.addresses.first ?? ""
        var health = await look(at: address, trust)
        health.process = Int(state.process.process)
        health.started = state.started
        return health
    }

    /// Of any other, whose certificate is judged as that of every server.
    func look(at address: String, _ context: ActionContext) async -> GatewayHealth {
        let store = context.registry.optional((any TrustStore).self)
        return await look(at: address, store.map { TrustDomain($0) } ?? TrustDomain())
    }

    private func look(at address: String, _ trust: TrustDomain) async -> GatewayHealth {
        var configuration = HTTPClient.Configuration()
        configuration.trust = trust
        configuration.feature = "gateway"
        let client = HTTPClient(configuration)
        var health = GatewayHealth(address: address)
        do {
            let start = services.surroundings.clock.measure()
            let response = try await client.send(request(address)).requireSuccess()
            health.latency = start()
            health.read(try JSON(parsing: response.body))
        } catch {
            let failure = AnyFailure(error)
            health.state = .down
            health.reason = failure.message
            health.mend = Self.mend(failure.code)
        }
        await client.close()
        return health
    }

    private func request(_ address: String) throws -> HTTPRequest {
        var request: HTTPRequest
        if address.hasPrefix("unix:") {
            request = HTTPRequest(.get, try HTTPURL("http://localhost/health"))
            request.unixSocket = String(address.dropFirst(5))
        } else {
            request = HTTPRequest(.get, try HTTPURL(address, assuming: .http).resolving("/health"))
        }
        request.retry = .none
        request.limits.connect = .seconds(3)
        request.limits.total = .seconds(5)
        request.limits.body = 1 << 20
        return request
    }

    private static func mend(_ code: String) -> String {
        switch code {
        case "http.refused": "start it: martlet gateway serve"
        case "http.certificate": "look at the certificate: martlet auth trust verify ADDRESS"
        case "http.status": "something else answers there; see its own log, or choose another port: gateway.port"
        case "http.bad-answer", "json": "something else answers there; choose another port: gateway.port"
        default: "end it and start it again: martlet gateway stop"
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
