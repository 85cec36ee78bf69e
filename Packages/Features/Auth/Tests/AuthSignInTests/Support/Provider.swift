import Capabilities
import Cryptography
import HTTPClient
import HTTPCore
import HTTPServer
import JSON
import Synchronization

@testable import AuthSignIn

/// A small OpenID provider over real HTTP. It checks requests as a good provider does, and lies as its faults say.
final class Provider: Sendable {
    struct Faults: Sendable {
        /// Changes the parameters with which the browser is sent back.
        var redirect: @Sendable (inout FormFields) -> Void = { _ in }
        /// Answers the token endpoint instead of the provider.
        var token: (@Sendable (FormFields) -> HTTPAnswer?) = { _ in nil }
        /// Changes the claims of the identity token.
        var claims: @Sendable (inout JSONObject) -> Void = { _ in }
        /// Changes the configuration.
        var configuration: @Sendable (inout JSONObject) -> Void = { _ in }
        /// Changes the answer to a device that asks for a code.
        var device: @Sendable (inout JSONObject) -> Void = { _ in }
    }

    struct State: Sendable {
        var origin = ""
        var next = 0
        var codes: [String: FormFields] = [:]
        var refreshTokens: Set<String> = []
        var tokenRequests: [FormFields] = []
        var deviceRequests: [FormFields] = []
        /// What the token endpoint and the one for devices got as `Authorization`.
        var credentials: [String?] = []
        var registrations: [JSON] = []
        /// The token endpoint's answers to a device, in order; then it returns tokens.
        var deviceAnswers: [String] = []
    }

    let state = Mutex(State())
    let faults: Faults
    let time = TestTime()

    private init(_ faults: Faults) {
        self.faults = faults
    }

    static func run<Result: Sendable>(
        _ faults: Faults = Faults(), _ body: (Provider) async throws -> Result
    ) async throws -> Result {
        let provider = Provider(faults)
        return try await withServer(provider.routes) { origin in
            provider.state.withLock { $0.origin = origin }
            return try await body(provider)
        }
    }

    var origin: String { state.withLock { $0.origin } }
    var tokenRequests: [FormFields] { state.withLock { $0.tokenRequests } }
    var deviceRequests: [FormFields] { state.withLock { $0.deviceRequests } }
    var credentials: [String?] { state.withLock { $0.credentials } }
    var registrations: [JSON] { state.withLock { $0.registrations } }
    /// A resource whose users sign in here.
    var resource: ResourceAddress { ResourceAddress("\(origin)/mcp") }
    var base: HTTPURL { get throws { try HTTPURL(origin) } }

    func configuration(_ client: HTTPClient) async throws -> OpenIDConfiguration? {
        try await OpenIDConfiguration.discover(at: try base, using: client)
    }

    private var routes: [Route] {
        [
            Route(.get, "/.well-known/openid-configuration", "configuration", "How to sign in") {
                (_: ServerRequest) async throws -> HTTPAnswer in self.describe()
            },
            Route(.get, "/authorize", "authorize", "For browsers") {
                (request: ServerRequest) async throws -> HTTPAnswer in self.authorize(request.head.query ?? "")
            },
            Route(.post, "/token", "token", "For programs", .upload("The form")) {
                (request: ServerRequest, body: RequestBody) async throws -> HTTPAnswer in
                self.state.withLock { $0.credentials.append(request.headers["Authorization"]) }
                return self.token(String(decoding: try await body.bytes(), as: UTF8.self))
            },
            Route(.get, "/.well-known/oauth-protected-resource/mcp", "resource", "Whose users sign in here") {
                (_: ServerRequest) async throws -> HTTPAnswer in
                .json([
                    "resource": .string(self.resource.text), "authorization_servers": [.string(self.origin)],
                    "scopes_supported": ["use"],
                ])
            },
            Route(.post, "/register", "register", "For programs", .upload("The program")) {
                (_: ServerRequest, body: RequestBody) async throws -> HTTPAnswer in
                let program = try JSON(parsing: try await body.bytes())
                let count = self.state.withLock { state in
                    state.registrations.append(program)
                    return state.registrations.count
                }
                return .json(["client_id": .string("registered-\(count)")], 201)
            },
            Route(.post, "/device", "device", "For programs without a browser", .upload("The form")) {
                (request: ServerRequest, body: RequestBody) async throws -> HTTPAnswer in
                let text = String(decoding: try await body.bytes(), as: UTF8.self)
                self.state.withLock { state in
                    state.credentials.append(request.headers["Authorization"])
                    if let form = FormFields(parsing: text) { state.deviceRequests.append(form) }
                }
                var members: JSONObject = [
                    "device_code": "device-code-7d1f", "user_code": "WDJB-MJHT",
                    "verification_uri": .string("\(self.origin)/activate"),
                    "verification_uri_complete": .string("\(self.origin)/activate?code=WDJB-MJHT"), "expires_in": 60,
                    "interval": 5,
                ]
                self.faults.device(&members)
                return .json(.object(members))
            },
        ]
    }

    private func describe() -> HTTPAnswer {
        let origin = origin
        var members: JSONObject = [
            "issuer": .string(origin), "authorization_endpoint": .string("\(origin)/authorize"),
            "token_endpoint": .string("\(origin)/token"), "device_authorization_endpoint": .string("\(origin)/device"),
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["plain", "S256"],
            "authorization_response_iss_parameter_supported": true, "jwks_uri": "https://example.com/unknown",
        ]
        faults.configuration(&members)
        return .json(.object(members))
    }

    private func authorize(_ query: String) -> HTTPAnswer {
        guard let asked = FormFields(parsing: query), asked.repeated.isEmpty, asked["response_type"] == "code",
            asked["code_challenge_method"] == "S256", let redirect = asked["redirect_uri"]
        else { return .text("malformed", status: .badRequest) }
        let code = state.withLock { state in
            state.next += 1
            state.codes["code-secret-\(state.next)"] = asked
            return "code-secret-\(state.next)"
        }
        var answer: FormFields = ["code": code, "state": asked["state"] ?? "", "iss": origin]
        faults.redirect(&answer)
        return .redirect(to: "\(redirect)?\(answer.text)")
    }

    private func token(_ body: String) -> HTTPAnswer {
        guard let form = FormFields(parsing: body) else { return .text("malformed", status: .badRequest) }
        state.withLock { $0.tokenRequests.append(form) }
        if let answer = faults.token(form) { return answer }
        switch form["grant_type"] {
        case "authorization_code":
            guard let asked = state.withLock({ $0.codes.removeValue(forKey: form["code"] ?? "") }),
                asked["redirect_uri"] == form["redirect_uri"], asked["client_id"] == form["client_id"],
                Base64URL.encode(Digest.sha256(Array((form["code_verifier"] ?? "").utf8))) == asked["code_challenge"]
            else { return refusal("invalid_grant") }
            return tokens(nonce: asked["nonce"])
        case "refresh_token":
            let isKnown = state.withLock { $0.refreshTokens.remove(form["refresh_token"] ?? "") != nil }
            return isKnown ? tokens(nonce: nil) : refusal("invalid_grant")
        default:
            let answer = state.withLock { $0.deviceAnswers.isEmpty ? nil : $0.deviceAnswers.removeFirst() }
            return answer.map(refusal) ?? tokens(nonce: nil)
        }
    }

    private func refusal(_ code: String) -> HTTPAnswer {
        .json(["error": .string(code)], 400)
    }

    private func tokens(nonce: String?) -> HTTPAnswer {
        let number = state.withLock { state in
            state.next += 1
            state.refreshTokens.insert("refresh-secret-\(state.next)")
            return state.next
        }
        var claims: JSONObject = [
            "iss": .string(origin), "aud": "martlet", "sub": "1234", "preferred_username": "ada",
            "exp": .int(Int(time.now.microseconds / 1_000_000) + 300),
        ]
        claims["nonce"] = nonce.map { .string($0) }
        faults.claims(&claims)
        return .json([
            "access_token": .string("access-secret-\(number)"), "token_type": "Bearer", "expires_in": 300,
            "refresh_token": .string("refresh-secret-\(number)"), "id_token": .string(Self.idToken(claims)),
        ])
    }

    static func idToken(_ claims: JSONObject) -> String {
        let payload = Base64URL.encode(Array(JSON.object(claims).text().utf8))
        return "\(Base64URL.encode(Array("{\"alg\":\"RS256\"}".utf8))).\(payload).c2lnbmF0dXJl"
    }
}
