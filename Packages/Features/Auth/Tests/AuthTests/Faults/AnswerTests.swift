import Capabilities
import HTTPCore
import HostTesting
import JSON
import KamiwazaTesting
import Testing

@Suite("Faulty responses", .timeLimit(.minutes(10)))
struct AnswerTests {
    private struct Case: Sendable {
        let fault: Fault
        let code: String
        let exit: ExitCode
        let words: String
    }

    private static let detail: JSON = [
        "detail": [["loc": ["query", "name"], "msg": "is too long", "type": "value_error"]]
    ]

    private static let cases: [Case] = [
        Case(
            fault: .status(.forbidden, ["detail": "Not enough rights"]), code: "kamiwaza.forbidden", exit: .denied,
            words: "this account does not have permission for this request at"),
        Case(fault: .status(.notFound), code: "kamiwaza.not-found", exit: .failed, words: "has nothing at"),
        Case(
            fault: .status(.unprocessable, detail), code: "kamiwaza.refused", exit: .failed,
            words: "query.name: is too long"),
        Case(fault: .status(.locked), code: "kamiwaza.locked", exit: .denied, words: "the account is locked"),
        Case(
            fault: .status(.internalServerError), code: "kamiwaza.server-failed", exit: .failed,
            words: "had an internal error"),
        Case(
            fault: .text("no healthy upstream", status: .serviceUnavailable), code: "kamiwaza.not-ready",
            exit: .unreachable, words: "no healthy upstream"),
        Case(fault: .text("fine"), code: "kamiwaza.bad-answer", exit: .failed, words: ""),
        Case(fault: .webPage(), code: "kamiwaza.bad-answer", exit: .failed, words: ""),
        Case(
            fault: .webPage(status: .internalServerError), code: "kamiwaza.server-failed", exit: .failed,
            words: "had an internal error"),
        Case(
            fault: .json(bytes: Array("{\"username\": ".utf8)), code: "kamiwaza.bad-answer", exit: .failed, words: ""),
        Case(
            fault: .redirect(to: "https://elsewhere.invalid/"), code: "kamiwaza.redirected", exit: .failed,
            words: "redirects to https://elsewhere.invalid"),
    ]

    @Test("Each fault has a clear message, a code and an exit code")
    func table() async throws {
        try await Lab.signedIn { server, bench in
            for one in Self.cases {
                server.fail("/api/auth/users/me", with: one.fault)
                let failure = try await bench.failure("auth.whoami")
                #expect(failure?.code == one.code && failure?.exit == one.exit, "\(failure?.report.text() ?? "")")
                #expect(failure?.message.contains(one.words) == true, "\(failure?.message ?? "")")
                #expect(failure?.message.contains("<html") == false && failure?.message.hasSuffix(".") == false)
            }
            server.heal("/api/auth/users/me")
            let me = try await bench.perform("auth.whoami")
            #expect(me["user"] == "ada")
            #expect(server.count(.post, "/api/auth/refresh") == 0)
        }
    }

    @Test("A slow response is waited for")
    func slow() async throws {
        try await Lab.signedIn { server, bench in
            server.fail("/api/auth/users/me", with: .held)
            let waiting = bench
            async let me = waiting.perform("auth.whoami")
            try await server.until { $0.contains { $0.path == "/api/auth/users/me" } }
            server.heal("/api/auth/users/me")
            #expect(try await me["user"] == "ada")
        }
    }

    @Test("A missing response does not delay a cancelled command")
    func cancelled() async throws {
        try await Lab.signedIn { server, bench in
            server.fail("/api/auth/users/me", with: .held)
            let waiting = bench
            let me = Task { try await waiting.perform("auth.whoami") }
            try await server.until { $0.contains { $0.path == "/api/auth/users/me" } }
            me.cancel()
            let result = await me.result
            #expect { _ = try result.get() } throws: { AnyFailure($0).code == "cancelled" }
            server.heal("/api/auth/users/me")
        }
    }

    @Test("A faulty response to a sign-in stores nothing", arguments: ["/api/auth/token", "/api/auth/pats"])
    func signIn(path: String) async throws {
        try await Lab.run { server, bench in
            for one in Self.cases {
                server.fail(path, with: one.fault)
                let failure = try await bench.failure(
                    "auth.login", ["user": "ada", "password": .string(Lab.password), "remember": true])
                #expect(failure?.code.hasPrefix("kamiwaza.") == true, "\(failure?.report.text() ?? "")")
                #expect(failure?.report.text().contains(Lab.password) == false)
            }
            let kept = try await bench.session()
            #expect(kept == nil)
        }
    }
}
