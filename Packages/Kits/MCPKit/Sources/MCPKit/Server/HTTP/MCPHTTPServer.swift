import Capabilities
import HTTPCore
public import HTTPServer
import JSON
import LoopKit
import RPCKit
import Synchronization

/// Serves MCP over Streamable HTTP, in both eras: sessions in the legacy era, single requests in the modern one.
///
///     let http = MCPHTTPServer(MCPServer(service))
///     try await http.run(authenticate: { token in tokens.principal(of: token) }) { addresses in print(addresses[0]) }
///
/// The routes can also be part of another server, whose authenticator then tells who the clients are; `whileRunning` must
/// run around it. A server of HTTPKit refuses web pages of other origins (403) and foreign host names (421).
public final class MCPHTTPServer: Sendable {
    /// How much clients may use.
    public struct Limits: Sendable, Hashable {
        /// The sessions of the legacy era. Beyond that, the session that was not used for the longest time ends.
        public var sessions = 1_000
        /// How long a session lasts that is not used.
        public var idle = Duration.seconds(1_800)
        /// The largest message of a client in bytes.
        public var body = 16 << 20
        /// How many bytes of a stream, and of the finished streams of a session, are kept for clients that come back.
        public var replay = 256 << 10
        /// How many clients of the modern era may be told changes at once.
        public var listeners = 1_000
        /// How long a request may be silent before its answer begins as a stream of events, which is kept alive.
        public var silence = Duration.seconds(15)

        /// The program uses the defaults.
        public init() {}
    }

    private struct State {
        var sessions: [String: ServerSession] = [:]
        var listeners = 0
        var isRunning = false
    }

    let server: MCPServer
    let limits: Limits
    let owner = TaskOwner()
    private let path: String
    private let state = Mutex(State())

    /// A server at this path, which is not running yet. It runs once.
    public init(_ server: MCPServer, path: String = "/mcp", limits: Limits = Limits()) {
        self.server = server
        self.path = path
        self.limits = limits
    }

    // MARK: Running

    /// Runs an HTTP server with these routes until the task is cancelled.
    ///
    /// - Parameters:
    ///   - configuration: everything else of it; by default it listens at a port of 127.0.0.1 that the system chooses.
    ///   - authenticate: tells whose bearer token this is; nil for nobody's. It must compare in constant time.
    ///   - started: gets the addresses once they are open.
    public func run(
        _ configuration: ServerConfiguration = ServerConfiguration(),
        authenticate: @escaping @Sendable (_ token: String) async throws -> Principal?,
        _ started: @escaping @Sendable ([BoundAddress]) async -> Void = { _ in }
    ) async throws {
        var configuration = configuration
        configuration.authenticate = { head in
            guard let token = head.headers.bearerToken else { return nil }
            return try await authenticate(token)
        }
        let http = HTTPServer(try Routes(routes), configuration)
        try await whileRunning { try await http.run(started) }
    }

    /// Lets the routes work for as long as `body` runs; then all sessions and requests are cancelled and awaited.
    public func whileRunning<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        state.withLock { $0.isRunning = true }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.endIdleSessions() }
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            group.cancelAll()
            let sessions = state.withLock { state in
                state.isRunning = false
                defer { state.sessions = [:] }
                return Array(state.sessions.values)
            }
            for session in sessions { session.end() }
            await owner.end()
            server.suspended.drop(of: owner)
            server.tasks.drop(of: owner)
            return try result.get()
        }
    }

    // MARK: Sessions

    private func endIdleSessions() async throws {
        while true {
            try await ContinuousClock().sleep(for: min(limits.idle / 2, .seconds(60)))
            sweep()
        }
    }

    /// Ends the sessions that were not used for too long.
    func sweep(at now: ContinuousClock.Instant = .now) {
        let idle = state.withLock { state in
            let idle = state.sessions.values.filter { session in
                session.idleSince.map { $0 + limits.idle <= now } ?? false
            }
            for session in idle { state.sessions[session.id] = nil }
            return idle
        }
        for session in idle { session.end() }
    }

    /// A session that has begun.
    ///
    /// - Throws: `RequestProblem` if there are too many and all are in use.
    func makeSession(for principal: Principal?) throws -> ServerSession {
        guard state.withLock({ $0.isRunning }) else {
            throw RequestProblem.unavailable("the server is not running", retryAfter: 1)
        }
        let session = ServerSession(server, principal, keeping: limits.replay)
        let (isKept, oldest) = state.withLock { state -> (Bool, ServerSession?) in
            guard state.isRunning else { return (false, nil) }
            var oldest: ServerSession?
            if state.sessions.count >= limits.sessions {
                let idle = state.sessions.values.compactMap { session in session.idleSince.map { ($0, session) } }
                oldest = idle.min { $0.0 < $1.0 }?.1
                guard let oldest else { return (false, nil) }
                state.sessions[oldest.id] = nil
            }
            state.sessions[session.id] = session
            return (true, oldest)
        }
        oldest?.end()
        guard isKept, session.start(in: owner) else {
            throw RequestProblem.unavailable("the server has \(limits.sessions) sessions in use", retryAfter: 10)
        }
        return session
    }

    /// The session with this id, if it belongs to the client.
    func session(_ id: String, of principal: Principal?) -> ServerSession? {
        guard let session = state.withLock({ $0.sessions[id] }), session.principal == principal else { return nil }
        return session
    }

    func end(_ session: ServerSession) {
        state.withLock { _ = $0.sessions.removeValue(forKey: session.id) }
        session.end()
    }

    /// The number of sessions.
    var sessionCount: Int { state.withLock { $0.sessions.count } }

    // MARK: Those who are told changes

    /// False if there are too many.
    func addListener() -> Bool {
        state.withLock { state in
            guard state.isRunning, state.listeners < limits.listeners else { return false }
            state.listeners += 1
            return true
        }
    }

    func removeListener() { state.withLock { $0.listeners -= 1 } }

    // MARK: Routes

    /// The routes of both eras.
    public var routes: [Route] {
        [
            Route(.post, path, "mcpPost", "Send an MCP message") { [self] request in try await post(request) }
                .bodyLimit(ByteCount(limits.body)),
            Route(.get, path, "mcpStream", "Read what an MCP session tells") { [self] request in try get(request) },
            Route(.delete, path, "mcpEnd", "End an MCP session") { [self] request in try delete(request) },
        ]
    }

    private func post(_ request: ServerRequest) async throws -> HTTPAnswer {
        guard HTTPChecks.accepts(["application/json", "text/event-stream"], request.headers) else {
            return Self.refusal(
                HTTPStatus(406), RPCError.invalidRequest,
                "Accept must name application/json and text/event-stream")
        }
        guard HTTPChecks.isJSON(request.headers) else {
            return Self.refusal(
                HTTPStatus(415), RPCError.invalidRequest, "Content-Type must be application/json")
        }
        let body = try await Self.read(try await request.body.bytes())
        for case .malformed(let malformed) in body.parts {
            return Self.answer(.badRequest, RPCResponse(malformed.id, .failure(malformed.error)))
        }
        let messages = body.parts.compactMap { part -> RPCMessage? in
            if case .message(let message) = part { return message }
            return nil
        }
        if !body.isBatch, let message = messages.first, Self.isModern(message, request.headers) {
            return try await answerModern(message, request)
        }
        return try await answerLegacy(messages, isBatch: body.isBatch, request)
    }

    /// Large texts are read by another thread, since clients share the threads of the server.
    private static func read(_ bytes: [UInt8]) async throws -> RPCBody {
        guard bytes.count > largeBody else { return RPCBody(bytes) }
        return await withTaskExecutorPreference(globalConcurrentExecutor) { RPCBody(bytes) }
    }

    private static let largeBody = 64 << 10

    private static func isModern(_ message: RPCMessage, _ headers: HTTPHeaders) -> Bool {
        if case .request(let request) = message {
            if ModernEnvelope.isModern(request) { return true }
            if request.method == "initialize" { return false }
        }
        return headers[HTTPChecks.Name.version].flatMap(MCPVersion.init)?.isModern == true
    }

    // MARK: Answers

    /// A message as the body of an answer.
    static func answer(_ status: HTTPStatus, _ response: RPCResponse) -> HTTPAnswer {
        .bytes(RPCMessage.response(response).bytes, type: "application/json", status: status)
    }

    /// An error that belongs to no request.
    static func refusal(_ status: HTTPStatus, _ code: Int, _ reason: String) -> HTTPAnswer {
        answer(status, RPCResponse(nil, .failure(RPCError(code, reason))))
    }
}
