public import Capabilities
public import HTTPClient
public import HTTPCore
public import JSON

/// The API of a Kamiwaza platform.
///
///     let base = try await KamiwazaAddress("lab.example").discover(using: client)
///     var api = KamiwazaAPI(base, client: client)
///     let tokens = try await api.signIn(user: "ada", password: password)
///     api.credential = .bearer(tokens.accessToken)
///     print(try await api.whoAmI().name)
///
/// Every call throws `KamiwazaError`, `HTTPError` for a rejected certificate, the error of the signer, or
/// `CancellationError`.
public struct KamiwazaAPI: Sendable {
    /// The base address of the API, such as `https://lab.example/api`, from `KamiwazaAddress.discover`.
    public let base: HTTPURL
    /// The client for the connections and for trust.
    public let client: HTTPClient
    /// The credential that signs requests.
    public var credential: KamiwazaCredential
    /// The timeout for a response.
    public var patience: Duration = .seconds(30)

    /// Creates the API without sending anything.
    public init(_ base: HTTPURL, client: HTTPClient, credential: KamiwazaCredential = .none) {
        self.base = base
        self.client = client
        self.credential = credential
    }
}

extension KamiwazaAPI {
    /// The personal access tokens of this account, including revoked ones.
    public nonisolated(nonsending) func personalTokens() async throws -> [PersonalToken] {
        try await answer(to: KamiwazaCall(.get, "/auth/pats")).list("pats").map { try PersonalToken($0) }
    }

    /// Creates a personal access token. Without a lifetime the server chooses one.
    public nonisolated(nonsending) func makePersonalToken(
        name: String, lifetime: Duration? = nil
    ) async throws -> NewPersonalToken {
        let seconds = lifetime.map { $0.components.seconds }
        var call = KamiwazaCall(.post, "/auth/pats")
        call.query.add("name", name)
        call.query.add("ttl_seconds", seconds.map { String($0) })
        let response: HTTPResponse
        do {
            response = try await answer(to: call)
        } catch let error as KamiwazaError where error.status == 422 {
            // Some versions accept the parameters only as a body. The first attempt created nothing.
            var body: JSONObject = ["name": .string(name)]
            if let seconds { body["ttl_seconds"] = .int(Int(seconds)) }
            call.query = WebForm()
            call.body = .json(.object(body))
            response = try await answer(to: call)
        }
        let members = try response.members()
        return NewPersonalToken(
            token: try members.requiredSecret("token"), facts: try PersonalToken(try members.members("pat")))
    }

    /// Revokes a personal access token by its id. A missing token throws `.notFound`.
    public nonisolated(nonsending) func revokePersonalToken(_ id: String) async throws {
        let response = try await answer(to: KamiwazaCall(.delete, "/auth/pats/\(PercentEncoding.encode(id))"))
        // A web page with status 200 is not a confirmation.
        if !response.body.isEmpty { _ = try response.json() }
    }
}

extension KamiwazaAPI {
    /// The enabled identity providers for signing in.
    public nonisolated(nonsending) func providers() async throws -> [SignInProvider] {
        var call = KamiwazaCall(.get, "/auth/idp/public/providers")
        call.isSigned = false
        return try await answer(to: call).list("providers").compactMap(SignInProvider.init)
    }

    /// The sign-in page for a browser. The redirect returns `state` if the server supports that.
    public func loginURL(
        provider: String? = nil, redirectURI: String? = nil, state: String? = nil
    ) throws(HTTPError) -> HTTPURL {
        var query = WebForm()
        query.add("redirect_uri", redirectURI)
        query.add("provider", provider)
        query.add("state", state)
        return try url("/auth/login", query)
    }

    /// The OpenID issuer behind the sign-in page, or nil when the page does not show it.
    ///
    /// A platform publishes no OpenID configuration. Its sign-in page leads to Keycloak, and the address of that page
    /// contains the realm with the configuration.
    public nonisolated(nonsending) func openIDIssuer() async throws -> HTTPURL? {
        var request = try request(for: KamiwazaCall(.get, "/auth/login"))
        request.headers["Accept"] = "text/html, application/json"
        let response: HTTPResponse
        do {
            response = try await client.send(request)
        } catch let error as HTTPError {
            throw KamiwazaError.onTheWay(error)
        }
        guard response.status.isRedirect, let location = response.headers["Location"] else { return nil }
        return issuer(ofPage: location, from: request.url)
    }

    private func issuer(ofPage location: String, from url: HTTPURL) -> HTTPURL? {
        let ending = "/protocol/openid-connect/auth"
        do throws(HTTPError) {
            let page = try url.resolving(location)
            // The sign-in page must not be redirected to an address without TLS, because users type passwords there.
            guard page.path.hasSuffix(ending), page.scheme == .https || base.scheme == .http else { return nil }
            return try page.resolving(String(page.path.dropLast(ending.count)))
        } catch {
            return nil
        }
    }
}

extension KamiwazaAPI {
    /// Sends a call and returns its response if the status means success.
    ///
    /// Only a GET is retried, when the server is starting or the connection broke.
    nonisolated(nonsending) func answer(to call: KamiwazaCall) async throws -> HTTPResponse {
        let response = try await exchange(call)
        guard response.status.isSuccess else { throw KamiwazaError(response, to: call, redactor: redactor(for: call)) }
        return response
    }

    /// Sends a call and returns its response with any status. Redirects within the server are followed.
    nonisolated(nonsending) func exchange(_ call: KamiwazaCall) async throws -> HTTPResponse {
        do {
            var request = try request(for: call)
            for _ in 0..<Self.mostRedirects {
                let response = try await send(request, isSigned: call.isSigned)
                guard let next = try next(after: response, request) else { return response }
                request.url = next
            }
            throw KamiwazaError(.redirected, "\(base.server) redirects in a loop; check the server address")
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
        // Redirects are followed by this code, which decides whether the credential may be sent.
        request.redirects = .none
        request.retry = call.method == .get ? Self.patientRetry : .none
        return request
    }

    /// The gateway of a starting platform answers 503 for some seconds.
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

    /// The target of a redirect that may be followed: it stays on this server and does not change the method.
    private func next(after response: HTTPResponse, _ request: HTTPRequest) throws -> HTTPURL? {
        guard response.status.isRedirect, let location = response.headers["Location"] else { return nil }
        let next: HTTPURL
        do {
            next = try request.url.resolving(location)
        } catch {
            throw KamiwazaError(
                .redirected, "\(base.server) redirects to an invalid address; check the server address",
                status: response.status.code)
        }
        guard next.isSameOrigin(as: request.url) else {
            let place = "\(next.scheme.rawValue)://\(next.server)"
            throw KamiwazaError(
                .redirected,
                "\(base.server) redirects to \(place), and credentials are not sent to another server; if \(place) is "
                    + "right, use that address", status: response.status.code)
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

extension KamiwazaAPI {
    /// The health that the server reports. Throws unless the status is 200 and the body is a JSON object.
    @discardableResult
    public nonisolated(nonsending) func health() async throws -> JSONObject {
        var call = KamiwazaCall(.get, "/auth/health")
        call.isSigned = false
        let response = try await answer(to: call)
        guard response.status == .ok, let object = try response.json().object else {
            throw KamiwazaError(
                .badAnswer, "\(base.server) did not report its health; check the server address",
                status: response.status.code)
        }
        return object
    }

    /// Signs in with a user name and a password.
    ///
    /// Requests a refresh token, and tries again without one if the server refuses.
    public nonisolated(nonsending) func signIn(user: String, password: Secret) async throws -> KamiwazaTokens {
        let call = signInCall(user, password, scope: "\(Self.scope) offline_access")
        let response = try await exchange(call)
        if response.status.isSuccess { return try KamiwazaTokens(response) }
        if Self.refusesOfflineAccess(response) {
            return try KamiwazaTokens(try await answer(to: signInCall(user, password, scope: Self.scope)))
        }
        throw KamiwazaError(response, to: call, redactor: redactor(for: call))
    }

    private static let scope = "openid email profile"

    /// Whether the server refuses the refresh token rather than the password. Sending a wrong password twice would lock
    /// the account sooner.
    ///
    /// Keycloak reports `invalid_scope`, or `not_allowed` with "Offline tokens not allowed for the user or client". The
    /// platform passes this on in no documented format, so the whole response is searched.
    private static func refusesOfflineAccess(_ response: HTTPResponse) -> Bool {
        guard response.status.code != 423, response.status.code != 429 else { return false }
        let text = String(decoding: response.body.prefix(4096), as: UTF8.self).lowercased()
        if text.contains("not_allowed") || text.contains("offline") { return true }
        return response.status.code < 500 && text.contains("scope")
    }

    private func signInCall(_ user: String, _ password: Secret, scope: String) -> KamiwazaCall {
        var form = WebForm()
        form.add("grant_type", "password")
        form.add("username", user)
        form.add("password", password)
        form.add("scope", scope)
        form.add("client_id", "kamiwaza-platform")
        var call = KamiwazaCall(.post, "/auth/token")
        call.body = .form(form)
        (call.purpose, call.isSigned, call.secrets) = (.signIn, false, [password])
        return call
    }

    /// Exchanges a refresh token for new tokens. `.sessionEnded` means that the user must sign in again.
    ///
    /// The old refresh token must not be used again, unless the server sends no new one.
    public nonisolated(nonsending) func refresh(_ refreshToken: Secret) async throws -> KamiwazaTokens {
        var call = KamiwazaCall(.post, "/auth/refresh")
        // The platform accepts it only in the address, so addresses are never shown in errors.
        call.query.add("refresh_token", refreshToken)
        (call.purpose, call.isSigned, call.secrets) = (.refresh, false, [refreshToken])
        return try KamiwazaTokens(try await answer(to: call))
    }

    /// Ends the session. Revoke a personal access token before this, because revoking needs a credential.
    @discardableResult
    public nonisolated(nonsending) func logOut() async throws -> KamiwazaLogout {
        var call = KamiwazaCall(.post, "/auth/logout")
        call.body = .json([:])
        let response = try await answer(to: call)
        return response.body.isEmpty ? KamiwazaLogout() : KamiwazaLogout(try response.members())
    }

    /// The signed-in user.
    public nonisolated(nonsending) func whoAmI() async throws -> KamiwazaUser {
        try KamiwazaUser(try await answer(to: KamiwazaCall(.get, "/auth/users/me")).members())
    }
}

/// The credential of requests.
public enum KamiwazaCredential: Sendable {
    /// No credential, for requests without a sign-in.
    case none
    /// An access token or a personal access token.
    case bearer(Secret)
    /// A signer. After a 401 it may renew the credential, and the request is repeated once.
    case signer(RequestSigner)
}
