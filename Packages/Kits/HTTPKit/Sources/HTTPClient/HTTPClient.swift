import CHTTPClient
public import Capabilities
import Glibc
public import HTTPCore
import JSON
import LoopKit
import Synchronization

/// Sends requests over one pool of connections. The same trust judges all servers of the pool.
///
///     let client = HTTPClient(.standalone)
///     let answer = try await client.send(HTTPRequest(.get, HTTPURL("https://lab.example/v1/models")))
///     print(try answer.requireSuccess().text)
///     await client.close()
///
/// Requests run concurrently. Cancelling the task of a request, or releasing its response, ends only that request. A
/// client that is no longer referenced finishes its running requests and then ends its thread.
public final class HTTPClient: Sendable {
    let configuration: Configuration
    private let pools: Mutex<Pools>

    private struct Pools {
        /// Nil after the client was closed.
        var current: Engine?
        /// Engines of an earlier trust that may still have running requests.
        var retired: [Engine] = []
        /// The trust generation under which the current engine was made; nil before first use.
        var generation: Int?

        /// Replaces the current engine and returns the old one, which the caller must retire.
        mutating func renew(_ configuration: Configuration) -> Engine? {
            guard let old = current else { return nil }
            current = HTTPClient.makeEngine(configuration)
            retired.removeAll(where: \.hasEnded)
            retired.append(old)
            return old
        }
    }

    /// Creates a client without a connection or thread; the first request creates both.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        pools = Mutex(Pools(current: Self.makeEngine(configuration)))
    }

    deinit {
        pools.withLock { $0.current }?.retire()
    }

    /// Makes every later request check trust again, without reusing existing connections. Call this when a pin or
    /// anything else that the judge checks has changed. Running requests continue.
    public func trustChanged() {
        let old = pools.withLock { [configuration] in $0.renew(configuration) }
        old?.retire()
    }

    /// Fails every running request and returns when the thread and the connections are gone.
    public func close() async {
        let all = pools.withLock { pools in
            defer { pools = Pools() }
            return pools.retired + [pools.current].compactMap(\.self)
        }
        for pool in all { await pool.close() }
    }

    /// Retires the pool if trust has changed since its connections were made.
    private func checkGeneration() {
        guard let generation = configuration.trust.generation?() else { return }
        // Atomic: a request that saw the new generation but not the new pool would use an old connection.
        let old = pools.withLock { [configuration] pools -> Engine? in
            let isOld = pools.generation.map { $0 != generation } ?? false
            pools.generation = generation
            return isOld ? pools.renew(configuration) : nil
        }
        old?.retire()
    }

    /// Starts one attempt in the pool.
    func start(_ plan: TransferPlan) throws(HTTPError) -> Transfer {
        checkGeneration()
        while true {
            guard let engine = pools.withLock({ $0.current }) else {
                throw HTTPError(
                    .closed, "the client was closed before the request was sent", mayHaveBeenSent: false,
                    server: plan.url.server)
            }
            if let transfer = try engine.start(plan) { return transfer }
            // The pool was retired between the two lines and has a successor, unless it was retired because its thread
            // could not be started.
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
    /// Settings shared by all requests of a client.
    public struct Configuration: Sendable {
        /// Whom the client trusts, and which certificates it presents.
        public var trust = TrustDomain.system
        /// The proxies; none by default, whatever the environment says.
        public var proxies = ProxySettings.none
        /// The `User-Agent` of requests that do not set one; a control character makes every request fail.
        public var userAgent = "martlet"
        /// Receives a span for each request.
        public var tracer = Tracer(sinks: [], now: Timestamp.now)
        /// The feature name under which requests are traced.
        public var feature = "http"
        /// Whether requests send a `traceparent` header. Use it only for your own servers: to others it reveals which
        /// requests come from the same person.
        public var sendsTraceparent = false
        /// The clock for waits between attempts.
        public var clock: any Clock<Duration> = ContinuousClock()
        /// The time of day, used to interpret a server's `Retry-After` date.
        public var now: @Sendable () -> Timestamp = Timestamp.now

        /// What a request that belongs to no action may reach: nothing by default. A request of an action may reach
        /// what its caller may.
        public var withoutCaller = Grant.nobody

        /// A client with the system's authorities, that may reach nothing outside of an action.
        public init() {}

        /// For a program without sessions and actions: every server may be reached.
        public static var standalone: Configuration {
            var configuration = Configuration()
            configuration.withoutCaller = .person
            return configuration
        }
    }
}

/// The result of a download.
public struct HTTPDownload: Sendable {
    /// The status of the response, which is a success.
    public let status: HTTPStatus
    /// The headers of the response.
    public let headers: HTTPHeaders
    /// The address that responded.
    public let url: HTTPURL
    /// The number of bytes written.
    public let count: Int
}

extension HTTPClient {
    /// Writes the response body to an open file from its current position, keeping little of it in memory.
    ///
    /// A failure status is thrown with the server's message, and nothing is written. On every other error, and when the
    /// task is cancelled, the bytes already written stay. To resume later, request the rest with a `Range` header.
    public nonisolated(nonsending) func download(
        _ request: HTTPRequest, to descriptor: Int32
    ) async throws -> HTTPDownload {
        var request = request
        // The caller does not see the pieces, so fewer are better: each one wakes the writing thread.
        request.limits.buffer = 512 << 10
        // Keep the file as the server stores it: some servers report an archive's type as its encoding.
        request.acceptsCompressed = request.acceptsCompressed ?? false
        let exchange = try await open(request).requireSuccess()
        let executor = try OwnThreadExecutor()
        defer { executor.end() }
        // A disk can block for seconds, and the shared pool has only as many threads as cores.
        let count = try await withTaskExecutorPreference(executor) {
            var count = 0
            for try await bytes in exchange.body {
                try Self.write(bytes, to: descriptor, from: exchange.url)
                count += bytes.count
            }
            return count
        }
        return HTTPDownload(status: exchange.status, headers: exchange.headers, url: exchange.url, count: count)
    }

    /// Downloads to a new file and removes it if the download fails. An existing file is not touched.
    public nonisolated(nonsending) func download(
        _ request: HTTPRequest, to path: String, mode: UInt32 = 0o644
    ) async throws -> HTTPDownload {
        let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else {
            throw HTTPError(
                .body, "cannot write \(path): \(SystemError(errno).description.lowercased())", mayHaveBeenSent: false)
        }
        var isDone = false
        defer {
            if !isDone { unsafe unlink(path) }
        }
        let download: HTTPDownload
        do {
            download = try await self.download(request, to: descriptor)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        // Some file systems report a full disk only here.
        guard Glibc.close(descriptor) == 0 || errno == EINTR else {
            throw HTTPError(
                .body, "cannot write \(path): \(SystemError(errno).description.lowercased())",
                server: request.url.server)
        }
        isDone = true
        return download
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, from url: HTTPURL) throws(HTTPError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
                return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw HTTPError(
                    .body,
                    "cannot write the response from \(url.server): \(SystemError(errno).description.lowercased())",
                    server: url.server)
            }
            written += count
        }
    }
}

extension HTTPClient {
    /// Sends a request and waits for the whole response, following redirects and retrying as the request allows.
    ///
    /// Every status is returned as a response; `requireSuccess` turns failure statuses into errors. Throws `HTTPError`,
    /// or `CancellationError` when the task is cancelled, which ends the request at once.
    public nonisolated(nonsending) func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await perform(request, delivery: .whole(limit: request.limits.body)) { transfer, request, attempt in
            let (head, body) = try await transfer.whole()
            let response = HTTPResponse(
                status: head.status, headers: head.headers, url: request.url, version: head.version, body: body,
                isReused: head.isReused, attempts: attempt)
            return (response, head)
        }
    }

    /// Sends a request and returns as soon as the response head has arrived; the body is read from the exchange.
    ///
    /// The server sends only as fast as the body is read. There are no retries after the head has arrived.
    public nonisolated(nonsending) func open(_ request: HTTPRequest) async throws -> HTTPExchange {
        let delivery = TransferPlan.Delivery.stream(limit: request.limits.held)
        return try await perform(request, delivery: delivery) { transfer, request, attempt in
            // Holds the transfer from here on: it ends if the response is not returned.
            let lease = TransferLease(transfer)
            let head = try await transfer.head()
            let exchange = HTTPExchange(
                head, url: request.url, attempts: attempt, patience: request.limits.words, lease: lease)
            return (exchange, head)
        }
    }

    private nonisolated(nonsending) func perform<Answer: Sendable>(
        _ request: HTTPRequest, delivery: TransferPlan.Delivery,
        _ answer: (Transfer, HTTPRequest, Int) async throws -> (Answer, ResponseHead)
    ) async throws -> Answer {
        let request = try await request.compressed()
        try request.check(userAgent: configuration.userAgent)
        return try await configuration.tracer.span(request.method.rawValue, .client, of: configuration.feature) {
            span in
            span.set(request.url, request.method)
            return try await performTraced(request, delivery, span, answer)
        }
    }

    private nonisolated(nonsending) func performTraced<Answer>(
        _ original: HTTPRequest, _ delivery: TransferPlan.Delivery, _ span: ActiveSpan,
        _ answer: (Transfer, HTTPRequest, Int) async throws -> (Answer, ResponseHead)
    ) async throws -> Answer {
        var request = original
        var (attempt, followed) = (1, 0)
        var settled: Set<String> = []
        while true {
            try Task.checkCancellation()
            // Checked for each request, because a redirect leads to another address.
            let grant = Caller.current?.grant ?? configuration.withoutCaller
            try request.url.checkPermission(socket: request.unixSocket, within: grant)
            let upload = try Upload(request.body)
            let isLocal = request.unixSocket != nil || request.url.isLocal
            let mayRepeat = request.mayRepeat && request.body.canBeSentAgain
            var generator = SystemRandomNumberGenerator()
            let wait: Duration?
            do {
                let plan = TransferPlan(
                    request, lines: request.lines(traced: configuration.sendsTraceparent), delivery: delivery,
                    upload: upload, grant: grant)
                if attempt > 1 || followed > 0 {
                    span.set("http.request.resend_count", .int(attempt - 1 + followed))
                }
                let began = span.elapsed
                let (result, head) = try await answer(try start(plan, upload), request, attempt)
                span.tell(head.times, since: began)
                configuration.trust.tell?()
                span.set(.httpStatus, .int(head.status.code))
                span.set("network.protocol.version", .string("\(head.version)"))
                span.set("martlet.connection.reused", .bool(head.isReused))
                if let next = try request.redirects.next(
                    after: request, status: head.status, headers: head.headers, followed: followed)
                {
                    request = next
                    followed += 1
                    continue
                }
                wait = request.retry.delay(
                    after: head.status, headers: head.headers, now: configuration.now(), attempt: attempt,
                    mayRepeat: mayRepeat, isLocal: isLocal, using: &generator)
                if wait == nil { return result }
            } catch let error as HTTPError {
                if let certificate = error.certificate, let settle = configuration.trust.settle,
                    request.body.canBeSentAgain, settled.insert(request.url.server).inserted
                {
                    try await settle(certificate)
                    trustChanged()
                    continue
                }
                // A stream can be read only once, even if none of it was sent.
                guard request.body.canBeSentAgain,
                    let delay = request.retry.delay(
                        after: error, attempt: attempt, mayRepeat: mayRepeat, isLocal: isLocal, using: &generator)
                else { throw error }
                wait = delay
            }
            if let wait {
                span.happened(
                    "http.retry", [SpanAttribute("martlet.retry.wait_ms", .int(Int(wait / .milliseconds(1))))])
                try await configuration.clock.sleep(for: wait)
            }
            attempt += 1
        }
    }

    private func start(_ plan: TransferPlan, _ upload: Upload) throws(HTTPError) -> Transfer {
        do {
            return try start(plan)
        } catch {
            if case .pipe(let pipe) = upload { pipe.close() }
            throw error
        }
    }
}

extension ActiveSpan {
    /// Adds the phases of an attempt that began so long after the span.
    fileprivate func tell(_ times: ResponseHead.Times, since began: Duration) {
        guard isRecording else { return }
        if let time = times.connected { happened("http.connected", after: began + time) }
        if let time = times.secured { happened("http.secured", after: began + time) }
        if let time = times.firstByte { happened("http.first_byte", after: began + time) }
    }

    /// Says where a request goes. What the path may hold besides words is not recorded.
    func set(_ url: HTTPURL, _ method: HTTPMethod) {
        guard isRecording else { return }
        set(.httpMethod, .string(method.rawValue))
        for (key, value) in url.facts { set(key, value) }
    }
}

extension HTTPURL {
    /// What is recorded of an address.
    var facts: [(SpanKey, SpanValue)] {
        [
            (.urlScheme, .string(scheme.rawValue)), (.serverAddress, .string(host)), (.serverPort, .int(port)),
            (.urlTemplate, .string(PathTemplate.of(path))),
        ]
    }
}

/// Signs the requests to a server.
public struct RequestSigner: Sendable {
    private let authenticator: any Authenticator
    private let server: ServerID

    /// - Parameter server: the profile or provider whose credential is used.
    public init(_ authenticator: any Authenticator, for server: ServerID) {
        self.authenticator = authenticator
        self.server = server
    }

    nonisolated(nonsending) func sign(_ request: HTTPRequest) async throws -> (HTTPRequest, RequestHead) {
        var head = RequestHead(method: request.method.rawValue, url: request.url.text)
        try await authenticator.sign(&head, for: server)
        var signed = request
        for (name, value) in head.headers { value.withText { signed.headers[name] = $0 } }
        return (signed, head)
    }

    nonisolated(nonsending) func renew(_ refused: RequestHead) async throws -> Bool {
        try await authenticator.renew(refused, for: server)
    }
}

extension HTTPClient {
    /// Sends a request with the credential for its server. After a 401 it is sent once more if the signer has a new
    /// credential.
    ///
    /// A redirect does not carry the credential over. Within the same origin the signer is asked again with the new
    /// address; other origins get no credential.
    public nonisolated(nonsending) func send(
        _ request: HTTPRequest, signedBy signer: RequestSigner
    ) async throws -> HTTPResponse {
        try await follow(request, signer) { try await self.send($0) }
    }

    /// Like `send`, for a response that is read as it arrives.
    public nonisolated(nonsending) func open(
        _ request: HTTPRequest, signedBy signer: RequestSigner
    ) async throws -> HTTPExchange {
        try await follow(request, signer) { try await self.open($0) }
    }

    private nonisolated(nonsending) func follow<Answer: SignedAnswer>(
        _ original: HTTPRequest, _ signer: RequestSigner,
        _ exchange: nonisolated(nonsending) (HTTPRequest) async throws -> Answer
    ) async throws -> Answer {
        var (request, followed, isSameOrigin) = (original, 0, true)
        while true {
            var hop = request
            hop.redirects = .none
            let answer =
                isSameOrigin ? try await sign(hop, signer, exchange) : try await exchange(hop)
            guard
                let next = try original.redirects.next(
                    after: request, status: answer.status, headers: answer.headers, followed: followed)
            else { return answer }
            answer.drop()
            isSameOrigin = isSameOrigin && next.url.isSameOrigin(as: request.url)
            request = next
            followed += 1
        }
    }

    private nonisolated(nonsending) func sign<Answer: SignedAnswer>(
        _ request: HTTPRequest, _ signer: RequestSigner,
        _ exchange: nonisolated(nonsending) (HTTPRequest) async throws -> Answer
    ) async throws -> Answer {
        let (signed, head) = try await signer.sign(request)
        let answer = try await exchange(signed)
        // The 401 response is kept, so that the server's message is not lost if there is no other credential.
        guard answer.status.code == 401, request.body.canBeSentAgain, try await signer.renew(head) else {
            return answer
        }
        answer.drop()
        return try await exchange(signer.sign(request).0)
    }
}

/// The common interface of both kinds of responses.
private protocol SignedAnswer: Sendable {
    var status: HTTPStatus { get }
    var headers: HTTPHeaders { get }
    /// Ends the response when another one replaces it.
    func drop()
}

extension HTTPResponse: SignedAnswer {
    fileprivate func drop() {}
}

extension HTTPExchange: SignedAnswer {
    fileprivate func drop() { cancel() }
}

extension HTTPClient {
    /// Starts loading libcurl in the background and returns at once. Loading takes as long as starting the program.
    public static func prepare() { CurlLibrary.load() }

    /// The version of libcurl this was built with, without opening the installed one, which may be newer.
    public static var libraryVersion: String { LIBCURL_VERSION }

    /// The version of the installed libcurl, which is opened for this. Throws when it cannot be used.
    public static func installedLibraryVersion() throws(HTTPError) -> String {
        try CurlLibrary.require()
        // `curl_version()` gives more details, but makes OpenLDAP load all its plug-ins.
        guard let info = unsafe curl_version_info(CURLVERSION_FIRST) else { return "" }
        return unsafe String(cString: info.pointee.version)
    }
}
