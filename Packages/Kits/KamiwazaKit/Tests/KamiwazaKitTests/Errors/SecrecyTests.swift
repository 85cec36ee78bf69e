import Capabilities
import HTTPClient
import HTTPCore
import JSON
import KamiwazaKit
import KamiwazaTesting
import Testing

@Suite("Secrecy of passwords and tokens", .timeLimit(.minutes(5)))
struct SecrecyTests {
    /// The responses in which a hostile server returns a secret that it received.
    static func echoes(_ secret: String) -> [Fault] {
        let statuses = [400, 401, 403, 404, 409, 422, 423, 429, 500, 503].map(HTTPStatus.init)
        let bodies: [JSON] = [
            ["detail": .string("you sent \(secret)!")],
            ["detail": [["loc": [.string(secret)], "msg": .string(secret)]]],
            ["detail": ["code": .string(secret), "message": .string("x\(secret)x")]], ["message": .string(secret)],
            ["error": .string(secret), "error_description": .string(secret)], .string(secret), [.string(secret)],
        ]
        return statuses.flatMap { status in bodies.map { Fault.status(status, $0) } }
            + statuses.map { .text("text with \(secret) in it", status: $0) }
            + [
                .text(secret), .json(bytes: Array(#"{"access_token":"\#(secret) ","username":["\#(secret)"]}"#.utf8)),
                .redirect(to: "http://127.0.0.1:1/\(secret)?a=\(secret)"), .redirect(to: "http://\(secret):x@h/"),
            ]
    }

    @Test("Secrets that a server sends back do not appear in errors or traces")
    func echoed() async throws {
        var configuration = HTTPClient.Configuration.standalone
        configuration.clock = ImmediateClock()
        let spans = RecordingSpans()
        configuration.tracer = Tracer(sinks: [spans]) { Timestamp(microseconds: 0) }
        try await Lab.session(KamiwazaSetup(), configuration) { server, api, tokens in
            let refreshToken = try #require(tokens.refreshToken)
            let password = Secret("hunter22&co=1")
            let calls: [(String, Secret, () async throws -> Void)] = [
                ("token", password, { _ = try await api.signIn(user: "ada", password: password) }),
                ("refresh", refreshToken, { _ = try await api.refresh(refreshToken) }),
                ("users/me", tokens.accessToken, { _ = try await api.whoAmI() }),
                ("pats", tokens.accessToken, { _ = try await api.makePersonalToken(name: "x") }),
            ]
            var errors = 0
            for (path, secret, call) in calls {
                for fault in Self.echoes(secret.plain) {
                    server.fail("/api/auth/\(path)", with: fault)
                    let error = await Lab.failure(call)
                    #expect(error?.everything.contains(secret.plain) == false, "\(path): \(error?.code ?? "")")
                    errors += 1
                }
            }
            #expect(errors == calls.count * Self.echoes("").count)
            #expect(spans.all.contains("http.request"))
            for secret in [password, refreshToken, tokens.accessToken] { #expect(!spans.all.contains(secret.plain)) }
            #expect(!spans.all.contains("refresh_token"))
        }
    }

    @Test("Secrets do not appear when the connection fails")
    func connection() async throws {
        try await Lab.client { client in
            var api = KamiwazaAPI(try HTTPURL("http://127.0.0.1:1/api"), client: client)
            api.credential = .bearer(Secret("bearer-secret"))
            let refresh = await Lab.failure { [api] in _ = try await api.refresh(Secret("refresh-secret")) }
            let login = await Lab.failure { [api] in _ = try await api.signIn(user: "ada", password: Secret("hunter22"))
            }
            let user = await Lab.failure { [api] in _ = try await api.whoAmI() }
            for error in [refresh, login, user] {
                #expect(error?.kind == .unreachable && error?.everything.contains("secret") == false)
                #expect(error?.everything.contains("hunter22") == false)
            }
        }
    }

    @Test("A credential that is not valid in a header is refused without being shown")
    func malformed() async throws {
        try await Lab.platform { server, api in
            let signed = KamiwazaAPI(
                api.base, client: api.client, credential: .bearer(Secret("line\r\nX-Evil: secret")))
            let error = await #expect(throws: HTTPError.self) { try await signed.whoAmI() }
            #expect(error?.kind == .invalid && "\(error?.message ?? "")".contains("secret") == false)
            #expect(server.requests.isEmpty)
        }
    }

    @Test("Printing and reflecting tokens does not reveal them")
    func printing() async throws {
        try await Lab.session { _, api, tokens in
            let made = try await api.makePersonalToken(name: "x")
            var dumped = ""
            dump(tokens, to: &dumped)
            dump(made, to: &dumped)
            dump(api.credential, to: &dumped)
            let all = dumped + "\(tokens) \(made) \(api)" + String(reflecting: api)
            for secret in [tokens.accessToken, made.token] { #expect(!all.contains(secret.plain)) }
            #expect(all.contains("redacted"))
        }
    }
}
