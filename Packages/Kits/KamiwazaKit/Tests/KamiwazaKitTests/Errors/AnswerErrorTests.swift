import Capabilities
import HTTPClient
import HTTPCore
import HTTPServer
import JSON
import KamiwazaKit
import KamiwazaTesting
import Testing

@Suite("Refusals of the server", .timeLimit(.minutes(5)))
struct AnswerErrorTests {
    struct Case: Sendable {
        var status: Int
        var body: JSON = ["detail": "made by a test"]
        var kind: KamiwazaError.Kind
        var exit: ExitCode
        var words: String
    }

    @Test(
        "Each status has its own error",
        arguments: [
            Case(
                status: 400, kind: .refused, exit: .failed,
                words: "refused the request (400 Bad Request): made by a test"),
            Case(status: 401, kind: .signInAgain, exit: .denied, words: "sign in again"),
            Case(status: 403, kind: .forbidden, exit: .denied, words: "not have permission"),
            Case(status: 404, kind: .notFound, exit: .failed, words: "nothing at /auth/users/me"),
            Case(status: 408, kind: .timedOut, exit: .unreachable, words: "timed out"),
            Case(status: 409, kind: .refused, exit: .failed, words: "made by a test"),
            Case(status: 418, kind: .refused, exit: .failed, words: "made by a test"),
            Case(
                status: 422, body: ["detail": " the name\n is taken. "], kind: .refused, exit: .failed,
                words: ": the name is taken"),
            Case(
                status: 422,
                body: [
                    "detail": [
                        ["loc": ["body", "ttl_seconds"], "msg": "too large", "type": "v", "input": "hunter22"],
                        ["loc": ["query", 0], "msg": "missing"], "and more", 7,
                    ]
                ], kind: .refused, exit: .failed, words: ": body.ttl_seconds: too large; query.0: missing; and more"),
            Case(
                status: 422, body: ["detail": ["code": "taken", "message": "the name is taken"]], kind: .refused,
                exit: .failed, words: ": taken: the name is taken"),
            Case(
                status: 422, body: ["detail": ["reason": "psk_timeout"]], kind: .refused, exit: .failed,
                words: ": psk_timeout"),
            Case(status: 423, kind: .locked, exit: .denied, words: "locked"),
            Case(status: 429, kind: .tooManyRequests, exit: .unreachable, words: "too many requests"),
            Case(status: 500, kind: .serverFailed, exit: .failed, words: "(500 Internal Server Error): made by a test"),
            Case(status: 501, kind: .serverFailed, exit: .failed, words: "501"),
            Case(status: 502, kind: .notReady, exit: .unreachable, words: "not ready"),
            Case(
                status: 503, body: ["code": "starting", "message": "wait", "retry_after_seconds": 90], kind: .notReady,
                exit: .unreachable, words: "not ready; try again in 1m30s: starting: wait"),
            Case(status: 504, kind: .timedOut, exit: .unreachable, words: "timed out"),
            Case(status: 304, kind: .redirected, exit: .failed, words: "to another server"),
        ])
    func status(_ expected: Case) async throws {
        var configuration = HTTPClient.Configuration.standalone
        configuration.clock = ImmediateClock()
        try await Lab.session(KamiwazaSetup(), configuration) { server, api, _ in
            server.fail("/api/auth/users/me", with: .status(HTTPStatus(expected.status), expected.body))
            let error = await Lab.failure { _ = try await api.whoAmI() }
            #expect(error?.kind == expected.kind && error?.exit == expected.exit && error?.status == expected.status)
            #expect(error?.message.contains(expected.words) == true, "\(error?.message ?? "")")
            #expect(error?.message.contains("hunter22") == false && error?.message.hasSuffix(".") == false)
            #expect(error?.details["status"] == .int(expected.status))
            #expect(error?.code.hasPrefix("kamiwaza.") == true)
        }
    }

    @Test("The error quotes the server's retry delay, and the client does not wait if it is too long")
    func retryAfter() async throws {
        try await Lab.session { server, api, _ in
            server.fail(
                "/api/auth/users/me",
                with: .answers(.text("busy", status: .serviceUnavailable).header("Retry-After", "3600")))
            let error = await Lab.failure { _ = try await api.whoAmI() }
            #expect(error?.kind == .notReady && error?.retryAfter == .seconds(3600))
            #expect(error?.message.contains("try again in 1h: busy") == true, "\(error?.message ?? "")")
            #expect(error?.details["retryAfterSeconds"] == .double(3600))
            #expect(server.count(.get, "/api/auth/users/me") == 1)
        }
    }

    @Test("Only a GET is retried while the server's routes start up")
    func repeats() async throws {
        var configuration = HTTPClient.Configuration.standalone
        configuration.clock = ImmediateClock()
        try await Lab.session(KamiwazaSetup(), configuration) { server, api, tokens in
            let fault = Fault.text("no healthy upstream", status: .serviceUnavailable)
            server.fail("/api/auth/users/me", with: fault, times: 2)
            #expect(try await api.whoAmI().name == "ada")
            #expect(server.count(.get, "/api/auth/users/me") == 3)

            let token = try #require(tokens.refreshToken)
            for path in ["token", "refresh", "pats", "logout", "pats/x"] {
                server.fail("/api/auth/\(path)", with: fault)
            }
            server.forgetRequests()
            let calls: [() async throws -> Void] = [
                { _ = try await api.signIn(user: "ada", password: Lab.password) },
                { _ = try await api.refresh(token) },
                { _ = try await api.makePersonalToken(name: "x") },
                { _ = try await api.logOut() },
                { try await api.revokePersonalToken("x") },
            ]
            for call in calls {
                let error = await Lab.failure(call)
                #expect(error?.kind == .notReady && error?.message.contains("no healthy upstream") == true)
            }
            #expect(server.requests.count == calls.count)
        }
    }

    @Test("A server's text cannot move a terminal's cursor or fill its screen")
    func hostileWords() async throws {
        try await Lab.session { server, api, _ in
            let words = "\u{1B}[2J\u{202E}evil\r\nline " + String(repeating: "x", count: 100_000)
            server.fail("/api/auth/users/me", with: .status(.conflict, ["detail": .string(words)]))
            let error = try #require(await Lab.failure { _ = try await api.whoAmI() })
            #expect(error.message.utf8.count < 1000 && error.message.contains("\\u{1B}[2J"))
            #expect(!error.message.unicodeScalars.contains { $0.value < 32 || $0.value == 0x202E })
        }
    }
}
