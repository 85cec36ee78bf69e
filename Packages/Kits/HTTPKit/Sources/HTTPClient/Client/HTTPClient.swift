public import Capabilities
import HTTPCore
import Synchronization

/// Sends requests over one pool of connections, whose servers are all judged by the same trust.
///
///     let client = HTTPClient(.standalone)
///     let answer = try await client.send(HTTPRequest(.get, HTTPURL("https://lab.example/v1/models")))
///     print(try answer.requireSuccess().text)
///     await client.close()
///
/// Requests run side by side. Cancelling the task of one, or letting go of its answer, ends that one only. A client
/// that nobody holds any more finishes what runs and ends its thread by itself.
public final class HTTPClient: Sendable {
    let configuration: Configuration
    private let pools: Mutex<Pools>

    private struct Pools {
        /// Nil when the client was closed.
        var current: Engine?
        /// Those of an earlier trust in which something may still run.
        var retired: [Engine] = []
        /// The trust's generation under which the current one was made; nil before it is used.
        var generation: Int?

        /// Puts a new one in the place of the current one, which is given back to be retired.
        mutating func renew(_ configuration: Configuration) -> Engine? {
            guard let old = current else { return nil }
            current = HTTPClient.makeEngine(configuration)
            retired.removeAll(where: \.hasEnded)
            retired.append(old)
            return old
        }
    }

    /// A client without connection and thread; the first request makes both.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        pools = Mutex(Pools(current: Self.makeEngine(configuration)))
    }

    deinit {
        pools.withLock { $0.current }?.retire()
    }

    /// Makes every later request ask for trust anew: no connection from before is used again. To be called when a pin
    /// or anything else that the judge looks at has changed. What runs goes on.
    public func trustChanged() {
        let old = pools.withLock { [configuration] in $0.renew(configuration) }
        old?.retire()
    }

    /// Ends every request that runs with an error, and returns when the thread and the connections are gone.
    public func close() async {
        let all = pools.withLock { pools in
            defer { pools = Pools() }
            return pools.retired + [pools.current].compactMap(\.self)
        }
        for pool in all { await pool.close() }
    }

    /// Retires the pool when its connections were made under a trust that has changed since.
    private func checkGeneration() {
        guard let generation = configuration.trust.generation?() else { return }
        // In one step: another request that saw the new generation and not the new pool would go over an old connection.
        let old = pools.withLock { [configuration] pools -> Engine? in
            let isOld = pools.generation.map { $0 != generation } ?? false
            pools.generation = generation
            return isOld ? pools.renew(configuration) : nil
        }
        old?.retire()
    }

    /// Hands one try to the pool.
    func start(_ plan: TransferPlan) throws(HTTPError) -> Transfer {
        checkGeneration()
        while true {
            guard let engine = pools.withLock({ $0.current }) else {
                throw HTTPError(
                    .closed, "the client was closed before the request was sent", mayHaveBeenSent: false,
                    server: plan.url.server)
            }
            if let transfer = try engine.start(plan) { return transfer }
            // The pool was retired between the two lines, and its successor is there; but one whose thread could not
            // be started has none yet.
            pools.withLock { [configuration] pools in
                if pools.current === engine { pools.current = Self.makeEngine(configuration) }
            }
        }
    }

    private static func makeEngine(_ configuration: Configuration) -> Engine {
        Engine(
            setup: ConnectionSetup(trust: configuration.trust, proxies: configuration.proxies),
            userAgent: configuration.userAgent)
    }
}

extension HTTPClient {
    /// What all requests of a client have in common.
    public struct Configuration: Sendable {
        public var trust = TrustDomain.system
        public var proxies = ProxySettings.none
        public var userAgent = "martlet"
        /// Takes a span for each request.
        public var tracer = Tracer(sinks: [], now: Timestamp.system)
        /// The feature in whose name the requests are traced.
        public var feature = "http"
        /// Whether servers are told which trace a request belongs to. Only for servers of one's own: to others it says
        /// which requests come from the same person.
        public var sendsTraceparent = false
        /// On which waits between tries are waited.
        public var clock: any Clock<Duration> & Sendable = ContinuousClock()
        /// The time of day, to which a server's `Retry-After` may refer.
        public var now: @Sendable () -> Timestamp = Timestamp.system

        /// What a request may reach that belongs to no action: nothing, unless somebody says so. A request of an action may
        /// reach what its caller may.
        public var withoutCaller = Grant.nobody

        public init() {}

        /// For a program without sessions and actions: every server may be reached.
        public static var standalone: Configuration {
            var configuration = Configuration()
            configuration.withoutCaller = .person
            return configuration
        }
    }
}
