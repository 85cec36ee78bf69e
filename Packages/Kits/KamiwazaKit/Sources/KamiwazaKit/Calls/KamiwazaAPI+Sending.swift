import Capabilities
import HTTPClient
import HTTPCore
import JSON

extension KamiwazaAPI {
    /// Sends a call and gives its answer when that means success.
    ///
    /// A GET that met a server which is just starting, or a connection that broke, is repeated; nothing else is.
    nonisolated(nonsending) func answer(to call: KamiwazaCall) async throws -> HTTPResponse {
        let response = try await exchange(call)
        guard response.status.isSuccess else { throw KamiwazaError(response, to: call, redactor: redactor(for: call)) }
        return response
    }

    /// Sends a call and gives its answer whatever the status, following redirects within the server.
    nonisolated(nonsending) func exchange(_ call: KamiwazaCall) async throws -> HTTPResponse {
        do {
            var request = try request(for: call)
            for _ in 0..<Self.mostRedirects {
                let response = try await send(request, isSigned: call.isSigned)
                guard let next = try next(after: response, request) else { return response }
                request.url = next
            }
            throw KamiwazaError(.redirected, "\(base.server) redirects in a circle; check the address of the server")
        } catch let error as HTTPError {
            throw KamiwazaError.onTheWay(error)
        }
    }

    private static let mostRedirects = 4
    static let largestAnswer = 4 << 20

    private nonisolated(nonsending) func send(_ request: HTTPRequest, isSigned: Bool) async throws -> HTTPResponse {
        guard isSigned else { return try await client.send(request) }
        switch credential {
        case .none: return try await client.send(request)
        case .signer(let signer): return try await client.send(request, signedBy: signer)
        case .bearer(let token):
            var signed = request
            token.withText { signed.headers["Authorization"] = "Bearer \($0)" }
            return try await client.send(signed)
        }
    }

    func request(for call: KamiwazaCall) throws(HTTPError) -> HTTPRequest {
        var request = HTTPRequest(call.method, try url(call.path, call.query))
        request.headers["Accept"] = "application/json"
        switch call.body {
        case .none: if call.method == .post { request.body = .bytes([]) }
        case .form(let form):
            request.headers["Content-Type"] = "application/x-www-form-urlencoded"
            request.body = form.withText { .text($0) }
        case .json(let json):
            request.headers["Content-Type"] = "application/json"
            request.body = .text(json.text())
        }
        request.limits.body = Self.largestAnswer
        request.limits.connect = min(request.limits.connect, patience)
        request.limits.firstByte = patience
        request.limits.total = patience
        // They are followed here, where it is known what goes along.
        request.redirects = .none
        request.retry = call.method == .get ? Self.patientRetry : .none
        return request
    }

    /// While the routes of a platform settle, its gateway answers 503 for some seconds.
    private static let patientRetry: RetryPolicy = {
        var policy = RetryPolicy(attempts: 3, base: .milliseconds(500))
        policy.longest = .seconds(5)
        policy.kinds = [.reset, .cut]
        policy.statuses = [.badGateway, .serviceUnavailable]
        return policy
    }()

    func url(_ path: String, _ query: WebForm = WebForm()) throws(HTTPError) -> HTTPURL {
        let place = base.text.hasSuffix("/") ? String(base.text.dropLast()) : base.text
        if query.isEmpty { return try HTTPURL(place + path) }
        return try query.withText { (text) throws(HTTPError) in try HTTPURL("\(place)\(path)?\(text)") }
    }

    /// Where a redirect leads, when it may be followed: it stays at this server and does not change the question.
    private func next(after response: HTTPResponse, _ request: HTTPRequest) throws -> HTTPURL? {
        guard response.status.isRedirect, let location = response.headers["Location"] else { return nil }
        let next: HTTPURL
        do {
            next = try request.url.resolving(location)
        } catch {
            throw KamiwazaError(
                .redirected, "\(base.server) redirects to what is no address; check the address of the server",
                status: response.status.code)
        }
        guard next.isSameOrigin(as: request.url) else {
            let place = "\(next.scheme.rawValue)://\(next.server)"
            throw KamiwazaError(
                .redirected,
                "\(base.server) sends requests on to \(place), where no credential is sent without being asked; "
                    + "if that is right, use that address", status: response.status.code)
        }
        guard request.method == .get || [307, 308].contains(response.status.code) else { return nil }
        return next
    }

    func redactor(for call: KamiwazaCall) -> Redactor {
        let redactor = Redactor()
        for secret in call.secrets { redactor.learn(secret) }
        if case .bearer(let token) = credential { redactor.learn(token) }
        return redactor
    }
}
