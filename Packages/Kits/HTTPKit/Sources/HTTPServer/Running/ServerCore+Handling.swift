import Capabilities
import HTTPCore
import JSON
import Synchronization

// What an async function calls is part of the memory that its task keeps, for every connection. So what needs no waiting
// is done in functions of its own here, which are not inlined; they throw without a type, since room for a typed error
// would be part of that memory too.

extension ServerCore {
    private enum Target {
        case route(RouteEntry, values: [String])
        indirect case answer(HTTPAnswer)
        /// What there is to know of an address, for those who may know it.
        indirect case told(Result<HTTPAnswer, RequestProblem>)
    }

    /// The answer to a request, from the checks to the handler.
    nonisolated(nonsending) func handle(_ request: ServerRequest) async throws -> HTTPAnswer {
        switch try find(request) {
        case .answer(let answer): return marked(answer, request)
        case .told(let result):
            // To strangers it is not told which routes there are.
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

    /// What the handler is given, once it is known who asks and the body is there.
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

    /// Whoever serves, and no more than the client's token opens.
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

    /// Who asks; nil where nobody wants to know.
    @inline(never)
    private nonisolated(nonsending) func authenticated(_ request: ServerRequest) async throws -> Principal? {
        guard let authenticate = configuration.authenticate else { return nil }
        guard let principal = try await authenticate(request.head) else {
            throw RequestProblem.unauthorized("a valid credential is needed; send it as Authorization: Bearer …")
        }
        return principal
    }

    /// Adds to an answer the id of its request, and what a browser needs to hand it to the page that asked.
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

    /// Throws where the host or the origin is not welcome; gives the origin that is allowed.
    private func check(_ request: ServerRequest) throws(RequestProblem) -> String? {
        if let hosts = request.connection.listener.hosts, !hosts.allows(request.head.host) {
            let host = (request.head.host ?? "").quotedForMessage
            throw RequestProblem(
                HTTPStatus(421), code: "server.host",
                "this server is not known as \(host); call it by an address that it allows")
        }
        switch OriginVerdict(request.head, configuration.crossOrigin, isSecure: request.isSecure) {
        case .own: return nil
        case .allowed(let origin): return origin
        case .refused:
            throw RequestProblem(.forbidden, code: "server.origin", "web pages of this origin may not use this server")
        }
    }

    /// Without an authenticator a page of another site could have a browser send what has an effect: a picture, a form or
    /// a link of it is a GET or POST that names no origin, or none that is refused. An open route is for everybody.
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
                    .methodNotAllowed, code: "server.method", "\(head.method) is not possible here, but \(list) is",
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
                "the path is malformed: it has a wrong escape, a NUL, or a part that would leave its folder")
        }
    }

    @inline(never)
    private func inputs(
        _ entry: RouteEntry, _ values: [String], _ request: ServerRequest, _ body: JSON?
    ) throws -> RawInputs {
        guard let query = PercentDecoding.pairs(request.head.query) else {
            throw RequestProblem.badRequest("the query is malformed: it has a wrong escape or a NUL")
        }
        let path = values.isEmpty ? [] : Array(zip(entry.template.names, values))
        return RawInputs(path: path, query: query, request: request, body: body)
    }

    /// The request with what became known of it, once its body is not too large.
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
            .contentTooLarge, code: "server.too-large", "the body is larger than \(ByteCount(limit).words)")
    }

    /// A large body is parsed where that holds up nobody else.
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
                    "the body is \(name.quotedForMessage), but this needs application/json")
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
