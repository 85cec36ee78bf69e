import Capabilities
import Cryptography
import FileKit
import GatewayAPI
import GatewayTurns
import HTTPCore
import HTTPServer
import Registry
import TraceKit

/// A gateway that serves requests.
struct GatewayServer {
    let services: GatewayServices
    let context: ActionContext

    private var settings: GatewaySettings { services.settings }

    /// Serves until the task is cancelled. Running requests may then finish within a time limit.
    func run(_ options: ServeOptions) async throws -> ServeReport {
        let instance = Instance(services.surroundings)
        let lock = try await instance.claim()
        let socket = (options.socket ?? settings.socket?.text).map(context.host.locations.absolute)
        let live = LiveSettings(context, services.store, socket: socket)
        services.serving.begin(live)
        defer { services.serving.end(live) }
        let result: Result<ServeReport, any Error>
        do { result = .success(try await serve(options, live, instance)) } catch { result = .failure(error) }
        // This task is already cancelled here.
        await shielded { await live.close() }
        try instance.forget()
        lock.release()
        return try result.get()
    }

    private func serve(_ options: ServeOptions, _ live: LiveSettings, _ instance: Instance) async throws -> ServeReport
    {
        let identity = try ServerIdentity(settings: settings, surroundings: services.surroundings).load()
        let (token, place) = try await services.token.current(context)
        let api = APIServices(
            store: services.store, version: context.host.version, now: context.host.now, parts: live.parts)
        let clients = ClientTokens(services.store, now: context.host.now)
        let server = HTTPServer(
            try Routes(try gatewayRoutes(api)), try configuration(api, options, identity, following(token), clients))
        let (started, signal) = AsyncStream.makeStream(of: [BoundAddress].self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { signal.finish() }
                try await server.run { signal.yield($0) }
            }
            var state: InstanceState?
            for await addresses in started {
                let found = try instance.announce(
                    addresses.map(\.description), fingerprint: identity.map { $0.certificate.fingerprint.digits })
                try await context.emit(found.event(place, program: context.host.name))
                if addresses.contains(where: \.isReadable) {
                    context.warn(
                        "the gateway accepts other machines without TLS, so the token can be read on the network; "
                            + "set gateway.tls to 'own'")
                }
                state = found
                break
            }
            async let _ = watch(live)
            async let _ = clients.watch(live.running, on: context.host.clock)
            let publisher = state == nil ? nil : context.registry.optional((any MetricPublisher).self)
            let endMetrics = publisher?.publish(of: GatewayFeature.manifest.id) { api.families }
            let result: Result<Void, any Error>
            do {
                try await withTaskCancellationHandler {
                    try await group.waitForAll()
                } onCancel: {
                    if live.count > 0 {
                        context.notice("stopping; running requests may continue for \(drain.words)")
                    }
                }
                result = .success(())
            } catch { result = .failure(error) }
            // This task is already cancelled here, and all requests are counted.
            if let endMetrics { await shielded { await endMetrics() } }
            try result.get()
            return ServeReport(state: state, ended: context.host.now())
        }
    }

    private var drain: Duration { settings.drain }

    private func configuration(
        _ api: APIServices, _ options: ServeOptions, _ identity: Identity?, _ token: LiveToken, _ clients: ClientTokens
    ) throws -> ServerConfiguration {
        var configuration = ServerConfiguration()
        configuration.adopt(api, tracingTo: context.registry.all((any SpanSink).self))
        configuration.addresses = try ListenAddresses(settings: settings, surroundings: services.surroundings)
            .addresses(options, identity)
        configuration.hosts = Set(settings.hosts)
        if !settings.origins.isEmpty {
            configuration.crossOrigin = CrossOriginRules(
                origins: Set(settings.origins),
                headers: [
                    "Authorization", "Content-Type", "X-API-Key", "X-Martlet-Dialect", "anthropic-beta",
                    "anthropic-version",
                ],
                exposed: [
                    "X-Session-ID", "X-Project-ID", "X-Request-ID", "request-id", "X-Martlet-Dropped", "Retry-After",
                ])
        }
        configuration.limits.drain = drain
        configuration.authenticate = { head in
            guard let shown = head.shownToken else { return nil }
            if token.equals(shown) { return ClientTokens.owner }
            if let client = try await clients.principal(shown) { return client }
            return await token.accepts(shown) ? ClientTokens.owner : nil
        }
        return configuration
    }

    private func following(_ token: Secret) -> LiveToken {
        LiveToken(token, now: context.host.now) { [tokens = services.token, registry = context.registry] in
            // A client with a wrong token must not cause a passphrase question. If the vault cannot be opened without
            // one, the known token stays valid.
            await ActionContext.$current.withValue(nil) {
                do { return try await tokens.known(registry)?.token } catch { return nil }
            }
        }
    }

    /// Shows the number of running requests whenever it changes.
    private func watch(_ live: LiveSettings) async {
        var last = 0
        while true {
            let running = live.count
            if running != last {
                context.progress(running == 1 ? "answering one request" : "answering \(running) requests")
                last = running
            }
            do { try await context.host.clock.sleep(for: .milliseconds(500)) } catch { return }
        }
    }
}

extension HTTPRequestHead {
    /// The token in the request's headers, as OpenAI's or Anthropic's clients send it. A token in the URL is not
    /// accepted, because URLs are logged in too many places.
    fileprivate var shownToken: Secret? {
        if let key = headers["X-API-Key"] { return Secret(key) }
        return headers.bearerToken.map { Secret($0) }
    }
}

extension BoundAddress {
    /// Whether its traffic crosses a network unencrypted.
    fileprivate var isReadable: Bool { port != nil && !isSecure && host != "::1" && !host.hasPrefix("127.") }
}

extension [UInt8] {
    fileprivate var digits: String { Hexadecimal.encode(self) }
}

/// Options of `serve` that replace settings for this run.
struct ServeOptions: Sendable {
    var address: String?
    var port: Int?
    var socket: String?
}

/// The addresses on which the gateway listens.
struct ListenAddresses {
    let settings: GatewaySettings
    let surroundings: Surroundings

    /// The sockets passed by a service manager, or else the address in the settings; and the Unix socket, if any.
    func addresses(_ options: ServeOptions, _ identity: Identity?) throws -> [ListenAddress] {
        let tls = try identity.map { try TLSServerContext(identity: $0) }
        func secured(_ address: ListenAddress) -> ListenAddress { tls.map { address.secured(by: $0) } ?? address }
        var addresses = try InheritedSockets.addresses(environment: surroundings.environment)
            .map { $0.isUnixSocket ? $0 : secured($0) }
        if addresses.isEmpty {
            let port = options.port ?? settings.port
            guard let number = UInt16(exactly: port) else {
                throw ServingError(
                    .settings, "\(port) is not a valid port; choose one from 1 to 65535, or 0 for any free port")
            }
            addresses = [secured(.ip(options.address ?? settings.address, port: number))]
        }
        if let path = options.socket ?? settings.socket?.text {
            // A Unix socket needs no TLS, since nothing can eavesdrop on it.
            addresses.append(.unix(surroundings.locations.absolute(path)))
        }
        return addresses
    }
}
