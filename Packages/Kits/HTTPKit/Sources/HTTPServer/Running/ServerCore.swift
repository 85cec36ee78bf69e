import Capabilities
import Glibc
import HTTPCore
import JSON
import LoopKit
import Synchronization

/// State that all connections of a server share.
final class ServerCore: Sendable {
    let routes: Routes
    let configuration: ServerConfiguration
    let limits: ServerLimits
    let dateLine = DateLine()
    let connections = ConnectionSet()
    /// The event streams, which get heartbeats while they are silent.
    let streams = ConnectionSet()
    /// Each client belongs to one loop and is served on its thread. The first loop also listens.
    let loops: [EventLoop]
    let files = FileThreads()
    let isEnding = Atomic(false)
    private let handlers = Atomic(0)
    private let lastID = Atomic<UInt64>(0)
    // Keeps request ids of different servers and runs distinct.
    private let idPrefix: String

    init(_ routes: Routes, _ configuration: ServerConfiguration) {
        self.routes = routes
        self.configuration = configuration
        limits = configuration.limits
        loops = (0..<Self.loopCount).map { _ in EventLoop() }
        idPrefix = String(UInt32.random(in: .min ... .max), radix: 36) + "-"
    }

    /// One thread for each processor, at most four.
    private static var loopCount: Int { min(max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1), 4) }

    /// The loop for a client.
    func loop(of id: UInt64) -> EventLoop { loops[Int(id % UInt64(loops.count))] }

    func newID() -> String {
        idPrefix + String(lastID.add(1, ordering: .relaxed).newValue, radix: 36)
    }

    /// Uses the client's id if it is harmless, so that one id follows a request through several programs.
    func requestID(_ head: HTTPRequestHead) -> String {
        guard let given = head.headers["X-Request-ID"], !given.isEmpty, given.utf8.count <= 64,
            given.utf8.allSatisfy({ HTTPHeaders.isTokenByte($0) })
        else { return newID() }
        return given
    }

    /// Counts a handler that starts; throws if there are too many. Otherwise call `leave` afterwards.
    @inline(never)
    func enter() throws {
        guard handlers.add(1, ordering: .relaxed).newValue <= limits.handlers else {
            leave()
            throw RequestProblem.unavailable("the server is busy with \(limits.handlers) requests", retryAfter: 1)
        }
    }

    /// Counts a handler that ends.
    @inline(never)
    func leave() {
        handlers.subtract(1, ordering: .relaxed)
    }
}

// Locals of an async function's callees are part of the memory that its task keeps, for every connection. So work
// without waiting is done in separate functions here, which are not inlined. They throw untyped errors, because room
// for a typed error would be part of that memory too.

extension ServerCore {
    private enum Target {
        case route(RouteEntry, values: [String])
        indirect case answer(HTTPAnswer)
        /// The result for an address, only for clients that may know it.
        indirect case told(Result<HTTPAnswer, RequestProblem>)
    }

    /// Answers a request, from the checks to the handler.
    nonisolated(nonsending) func handle(_ request: ServerRequest) async throws -> HTTPAnswer {
        switch try find(request) {
        case .answer(let answer): return marked(answer, request)
        case .told(let result):
            // Unauthenticated clients must not learn which routes exist.
            _ = try await authenticated(request)
            return marked(try result.get(), request)
        case .route(let entry, let values):
            try request.connection.enter()
            let inputs = try await admit(request, entry, values)
            let answer = try await Caller.$current.withValue(caller(of: inputs.request)) {
                try await entry.route.run(inputs)
            }
            if !answer.content.isMadeLater { request.connection.leave() }
            return marked(answer, request)
        }
    }

    /// Builds the handler's input after authentication and reading the body.
    @inline(never)
    private nonisolated(nonsending) func admit(
        _ request: ServerRequest, _ entry: RouteEntry, _ values: [String]
    ) async throws -> RawInputs {
        let principal = entry.route.isOpen ? nil : try await authenticated(request)
        if let principal { try permit(entry.route, to: principal) }
        let request = try accepted(request, entry, principal)
        let body = entry.declaresBody ? try await parsed(try await request.body.bytes(), request) : nil
        return try inputs(entry, values, request, body)
    }

    /// The server's caller, restricted to the scopes of the client's token.
    private func caller(of request: ServerRequest) -> Caller? {
        Caller.current?.narrowed(by: request.principal?.grant)
    }

    @inline(never)
    private func permit(_ route: Route, to principal: Principal) throws {
        if route.scopes.isEmpty { return }
        do throws(AccessFailure) { try principal.grant.check(.route(route.scopes)) } catch {
            throw RequestProblem(.forbidden, code: error.code, error.message)
        }
    }

    /// Authenticates the client; nil if no authentication is needed.
    @inline(never)
    private nonisolated(nonsending) func authenticated(_ request: ServerRequest) async throws -> Principal? {
        guard let authenticate = configuration.authenticate else { return nil }
        guard let principal = try await authenticate(request.head) else {
            throw RequestProblem.unauthorized("a valid credential is required; send it as Authorization: Bearer …")
        }
        return principal
    }

    /// Adds the request id to a response, and the headers a browser needs to pass it to the requesting page.
    @inline(never)
    func marked(_ answer: consuming HTTPAnswer, _ request: ServerRequest) -> HTTPAnswer {
        tell(request.id, in: &answer.headers)
        guard let rules = configuration.crossOrigin else { return answer }
        if case .allowed(let origin) = OriginVerdict(request.head, rules, isSecure: request.isSecure),
            answer.headers["Access-Control-Allow-Origin"] == nil
        {
            rules.mark(&answer.headers, origin)
        }
        if !answer.headers.has("Vary", "Origin") { answer.headers.append("Vary", "Origin") }
        return answer
    }

    /// Throws if the host or the origin is not allowed; returns the allowed origin.
    private func check(_ request: ServerRequest) throws(RequestProblem) -> String? {
        if let hosts = request.connection.listener.hosts, !hosts.allows(request.head.host) {
            let host = (request.head.host ?? "").quotedForMessage
            throw RequestProblem(
                HTTPStatus(421), code: "server.host",
                "this server does not accept the host \(host); use one of its allowed addresses")
        }
        switch OriginVerdict(request.head, configuration.crossOrigin, isSecure: request.isSecure) {
        case .own: return nil
        case .allowed(let origin): return origin
        case .refused:
            throw RequestProblem(.forbidden, code: "server.origin", "web pages of this origin may not use this server")
        }
    }

    /// Without an authenticator, a page of another site could make a browser send requests with an effect: pictures,
    /// forms and links are GET or POST requests without an origin, or with one that is not refused. Open routes are
    /// allowed for everyone.
    private func checkSite(_ request: ServerRequest) throws(RequestProblem) {
        guard configuration.authenticate == nil, let site = request.headers["Sec-Fetch-Site"],
            site != "same-origin", site != "none"
        else { return }
        if case .allowed = OriginVerdict(request.head, configuration.crossOrigin, isSecure: request.isSecure) { return }
        throw RequestProblem(.forbidden, code: "server.origin", "web pages of other sites may not use this server")
    }

    @inline(never)
    private func find(_ request: ServerRequest) throws -> Target {
        let origin = try check(request)
        let head = request.head
        if head.path == "*" {
            return .answer(.empty().header("Allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"))
        }
        switch routes.match(head.method, head.path) {
        case .route(let index, let values):
            let entry = routes.entries[index]
            request.connection.state.withLock { $0.exchange.route = entry }
            if !entry.route.isOpen { try checkSite(request) }
            return .route(entry, values: values)
        case .otherMethod(let allowed):
            let list = allowed.map(\.rawValue).joined(separator: ", ")
            guard head.method == .options else {
                let problem = RequestProblem(
                    .methodNotAllowed, code: "server.method", "\(head.method) is not allowed here; use \(list)",
                    headers: ["Allow": list])
                return .told(.failure(problem))
            }
            if let origin, let rules = configuration.crossOrigin, head.headers["Access-Control-Request-Method"] != nil {
                return .answer(rules.preflight(origin, methods: allowed))
            }
            return .told(.success(.empty().header("Allow", list)))
        case .nothing:
            return .told(.failure(.notFound("there is nothing at \(head.path.quotedForMessage)")))
        case .refused:
            throw RequestProblem.badRequest(
                "the path is malformed: it has an invalid escape, a NUL, or a part that leaves its folder")
        }
    }

    @inline(never)
    private func inputs(
        _ entry: RouteEntry, _ values: [String], _ request: ServerRequest, _ body: JSON?
    ) throws -> RawInputs {
        guard let query = PercentDecoding.pairs(request.head.query) else {
            throw RequestProblem.badRequest("the query is malformed: it has an invalid escape or a NUL")
        }
        let path = values.isEmpty ? [] : Array(zip(entry.template.names, values))
        return RawInputs(path: path, query: query, request: request, body: body)
    }

    /// Adds what is known about the request, after checking the body's size.
    @inline(never)
    private func accepted(
        _ request: ServerRequest, _ entry: RouteEntry, _ principal: Principal?
    ) throws -> ServerRequest {
        let limit = entry.route.bodyLimit?.bytes ?? limits.body
        guard case .length(let length) = request.head.body, length > limit else {
            if principal == nil, limit == request.bodyLimit { return request }
            return ServerRequest(
                request.head, id: request.id, request.connection, number: request.number, principal: principal,
                bodyLimit: limit)
        }
        throw RequestProblem(
            .contentTooLarge, code: "server.too-large", "the body is larger than the limit of \(ByteCount(limit).words)"
        )
    }

    /// A large body is parsed on a separate thread.
    @inline(never)
    private nonisolated(nonsending) func parsed(_ bytes: [UInt8], _ request: ServerRequest) async throws -> JSON? {
        if bytes.count <= FileThreads.large { return try parse(bytes, request) }
        return try await files.run { try self.parse(bytes, request) }
    }

    @inline(never)
    private func parse(_ bytes: [UInt8], _ request: ServerRequest) throws -> JSON? {
        if bytes.isEmpty { return nil }
        if let type = request.headers["Content-Type"] {
            let name = type.prefix { $0 != ";" }.trimmingSpaces.lowercased()
            guard name == "application/json" || name.hasPrefix("application/") && name.hasSuffix("+json") else {
                throw RequestProblem(
                    HTTPStatus(415), code: "server.type",
                    "the body type is \(name.quotedForMessage), but must be application/json")
            }
        }
        do throws(JSONError) {
            return try JSON(parsing: bytes)
        } catch {
            let place = error.path.joined(separator: ".")
            throw RequestProblem(
                .badRequest, code: "server.json", "the body is not valid JSON: \(error)",
                inputs: [InputProblem(place: "body", name: place, message: error.message)])
        }
    }
}

/// Records a request until its response has ended. It is an object because a stream keeps it for as long as it lasts.
final class Observation: Sendable {
    /// The trace context for the work of the request.
    let context: TraceContext
    fileprivate let span: SpanRecord?

    fileprivate init(_ context: TraceContext, _ span: SpanRecord?) {
        self.context = context
        self.span = span
    }
}

extension ServerCore {
    /// Nil if the request is not traced and its handler has no caller.
    @inline(never)
    func observe(_ request: ServerRequest) -> Observation? {
        let remote = request.headers["traceparent"].flatMap {
            TraceContext(traceparent: $0, tracestate: request.headers["tracestate"])
        }
        // A client can send any word, and names are few.
        let method = Self.knownMethods.contains(request.method) ? request.method.rawValue : "_OTHER"
        guard let span = configuration.tracer.begin(method, .server, of: "http", under: remote) else {
            return remote.map { Observation($0, nil) }
        }
        span.set(.httpMethod, .string(method))
        span.set(.requestID, .string(request.id))
        return Observation(span.context, span)
    }

    private static let knownMethods: Set<HTTPMethod> = [.get, .head, .post, .put, .patch, .delete, .options]

    /// Records the outcome of a request.
    @inline(never)
    func record(_ exchange: Connection.Exchange, of peer: PeerAddress, _ error: (any Error)?) {
        guard let span = exchange.observation?.span else { return }
        // The path and its query may contain data that must not be kept; the template cannot.
        let route = exchange.route?.route.template ?? ""
        span.set(.httpRoute, .string(route))
        if !route.isEmpty { span.rename("\(span.name) \(route)") }
        span.set("network.peer.address", .string(peer.description))
        span.set("http.response.body.size", .int(exchange.written))
        if exchange.events > 0 { span.set(.streamEvents, .int(exchange.events)) }
        if let status = exchange.status { span.set(.httpStatus, .int(status.code)) }
        let cause = error ?? exchange.problem
        // What an unforeseen error says may be anything that somebody sent.
        if let cause, !(cause is any Failure) {
            span.set("exception.type", .string(String(describing: type(of: cause))))
        }
        configuration.tracer.end(span, failure: cause.map { AnyFailure($0).code })
    }
}

extension ServerCore {
    /// The error that a client sees. Errors that are not a `Failure` are internal, and their details are hidden.
    @inline(never)
    func answer(to error: any Error, _ request: ServerRequest) -> HTTPAnswer {
        let entry = request.connection.state.withLock { state in
            state.exchange.problem = error
            return state.exchange.route
        }
        let failure = Self.failure(error, isEnding: isEnding.load(ordering: .relaxed))
        guard var problem = failure as? RequestProblem, problem.isAboutInputs, let entry else {
            return answer(to: failure, id: request.id)
        }
        problem.status = entry.route.inputRefusal
        return answer(to: problem, id: request.id)
    }

    func answer(to failure: any Failure, id: String) -> HTTPAnswer {
        let problem = failure as? RequestProblem
        let status = problem?.status ?? configuration.status(failure) ?? Self.usualStatus(failure)
        let report = ProblemReport(
            status: status, code: failure.code, message: failure.message, inputs: problem?.inputs ?? [],
            requestID: id, details: failure.details)
        var answer = HTTPAnswer.json(configuration.envelope(report), status: status)
        answer.headers.append("X-Request-ID", id)
        tell(id, in: &answer.headers)
        for (name, value) in problem?.headers ?? HTTPHeaders() { answer.headers.append(name, value) }
        return answer
    }

    /// Adds the request id to the response headers.
    func tell(_ id: String, in headers: inout HTTPHeaders) {
        for name in configuration.requestIDHeaders { headers[name] = id }
    }

    private static func failure(_ error: any Error, isEnding: Bool) -> any Failure {
        switch error {
        case let failure as any Failure: failure
        case let refusal as RequestRefusal:
            RequestProblem(refusal.status, code: "server.body", "the request \(refusal.reason)")
        case let error as ValueError:
            RequestProblem.inputs([
                InputProblem(place: "body", name: error.path.joined(separator: "."), message: error.message)
            ])
        case is CancellationError where isEnding:
            RequestProblem.unavailable("the server is shutting down; try again", retryAfter: 1)
        default:
            RequestProblem(
                .internalServerError, code: "server.internal",
                "internal server error; the server's traces have the details under the id of this request")
        }
    }

    private static func usualStatus(_ failure: any Failure) -> HTTPStatus {
        if let error = failure as? HTTPError {
            switch error.kind {
            case .connectTimedOut, .firstByteTimedOut, .idleTimedOut, .totalTimedOut: return .gatewayTimeout
            case .tooLarge, .headTooLarge, .badAnswer, .status: return .badGateway
            default: break
            }
        }
        return switch failure.exit {
        case .usage: .badRequest
        case .denied: .forbidden
        case .unreachable, .toolFailed: .badGateway
        case .unanswered: .conflict
        default: .internalServerError
        }
    }
}
