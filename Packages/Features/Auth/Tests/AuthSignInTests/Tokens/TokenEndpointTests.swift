import Capabilities
import HTTPClient
import HTTPCore
import HTTPServer
import HTTPTesting
import JSON
import Synchronization
import Testing

@testable import AuthSignIn

@Suite("Token endpoint", .timeLimit(.minutes(5)))
struct TokenEndpointTests {
    private let time = TestTime()

    private func renew(_ answer: @escaping @Sendable (FormFields) -> HTTPAnswer) async throws -> TokenAnswer {
        var faults = Provider.Faults()
        faults.token = answer
        return try await Provider.run(faults) { provider in
            try await withClient { client in
                let endpoint = TokenEndpoint(
                    try HTTPURL("\(provider.origin)/token"), clientID: "martlet", client: client, now: time.clock)
                return try await endpoint.renew(Secret("r3fresh"))
            }
        }
    }

    private func failure(_ answer: @escaping @Sendable (FormFields) -> HTTPAnswer) async throws -> SignInError {
        let error = try await #require(throws: SignInError.self) { try await renew(answer) }
        expectClean(error, of: "r3fresh", "s3cret")
        return error
    }

    @Test("The lifetime is parsed as a number or a text")
    func lifetimes() async throws {
        let cases: [(JSON, Duration?)] = [
            (300, .seconds(300)), ("300", .seconds(300)), (0.5, .milliseconds(500)), (0, nil), (-5, nil), ("soon", nil),
            (.null, nil), (1e300, nil), (.big("99999999999999999999"), nil), ([300], nil),
        ]
        for (written, expected) in cases {
            let tokens = try await renew { _ in
                .json(["access_token": "a", "token_type": "bEARER", "expires_in": written, "refresh_token": ""])
            }
            #expect(tokens.expiry == expected.map { TestTime.start.advanced(by: $0) }, "\(written)")
            #expect(tokens.refreshToken == nil)
        }
    }

    @Test("A refresh token is rotated, and an old one is refused")
    func rotation() async throws {
        try await Provider.run { provider in
            provider.state.withLock { $0.refreshTokens = ["refresh-secret-0"] }
            try await withClient { client in
                let endpoint = TokenEndpoint(
                    try HTTPURL("\(provider.origin)/token"), clientID: "martlet", client: client, now: time.clock)
                let first = try await endpoint.renew(Secret("refresh-secret-0"))
                _ = try await endpoint.renew(try #require(first.refreshToken))
                let error = await #expect(throws: SignInError.self) {
                    try await endpoint.renew(Secret("refresh-secret-0"))
                }
                #expect(error?.kind == .refused)
            }
            #expect(provider.tokenRequests.allSatisfy { $0["client_id"] == "martlet" })
        }
    }

    @Test(
        "These responses are final refusals",
        arguments: [
            (400, "invalid_grant"), (401, "invalid_client"), (401, ""), (403, ""), (400, "unauthorized_client"),
        ])
    func refusals(status: Int, code: String) async throws {
        let error = try await failure { _ in .json(["error": .string(code)], status) }
        #expect(error.kind == .refused && error.exit == .denied)
        #expect(!error.message.hasSuffix("."))
    }

    @Test(
        "These responses are not final refusals",
        arguments: [
            (400, "invalid_request", SignInError.Kind.badAnswer), (400, "unsupported_grant_type", .badAnswer),
            (404, "", .badAnswer), (500, "", .unreachable), (503, "temporarily_unavailable", .unreachable),
            (429, "slow", .unreachable), (307, "", .badAnswer),
        ])
    func others(status: Int, code: String, kind: SignInError.Kind) async throws {
        let error = try await failure { _ in .json(["error": .string(code)], status) }
        #expect(error.kind == kind)
    }

    @Test("Secrets that the server repeats are removed from the error")
    func echoes() async throws {
        let error = try await failure { form in
            let sent = form["refresh_token"] ?? ""
            return .json(
                ["error": .string("invalid_grant"), "error_description": .string("\(sent)\u{1B}]0;\(sent)\u{7}")], 400)
        }
        #expect(error.message.contains("‹redacted›\\u{1B}]0;‹redacted›\\u{7}"))
        _ = try await failure { form in .json(["error": .string(form["refresh_token"] ?? "")], 400) }
        _ = try await failure { form in .text(form["refresh_token"] ?? "", status: .badRequest) }
        _ = try await failure { form in .text(form["refresh_token"] ?? "") }
    }

    @Test("A response without tokens is rejected without quoting it")
    func nonsense() async throws {
        let answers: [HTTPAnswer] = [
            .text("s3cret"), .json(["s3cret"]), .json(["access_token": 1, "token_type": "bearer"]),
            .json(["access_token": "", "token_type": "bearer"]), .json(["access_token": "s3cret"]),
            .json(["access_token": "s3cret", "token_type": "mac"]), .empty(),
            .bytes(Array("<html>s3cret".utf8), type: "text/html"),
            .bytes([UInt8](repeating: 32, count: 2 << 20), type: "application/json"),
            .bytes([0xFF, 0x00, 0x73], type: "application/json"),
        ]
        for answer in answers {
            let error = try await failure { _ in answer }
            #expect(error.kind == .badAnswer, "\(error)")
        }
    }

    @Test("A redirect is not followed, so no other server gets the secrets")
    func redirect() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveRequest()
            try connection.answer()
        } during: { other in
            let port = other.port
            let error = try await failure { _ in
                .redirect(to: "http://127.0.0.1:\(port)/token", status: HTTPStatus(307))
            }
            #expect(error.kind == .badAnswer)
            #expect(other.record.connections.isEmpty)
        }
    }

    @Test("A server that is not listening is unreachable, which is not a refusal")
    func unreachable() async throws {
        try await RefusingPort.run { port in
            try await withClient { client in
                let endpoint = TokenEndpoint(
                    try HTTPURL("http://127.0.0.1:\(port)/token"), clientID: "martlet", client: client, now: time.clock)
                let error = await #expect(throws: SignInError.self) { try await endpoint.renew(Secret("r3fresh")) }
                #expect(error?.kind == .unreachable && error?.exit == .unreachable)
            }
        }
    }

    @Test("A connection that is cut during the response is unreachable after one request")
    func cut() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveRequest()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"access_token\":\"s3cret\"")
            connection.reset()
        } during: { server in
            try await withClient { client in
                let endpoint = TokenEndpoint(
                    try HTTPURL("http://127.0.0.1:\(server.port)/token"), clientID: "martlet", client: client,
                    now: time.clock)
                let error = try await #require(throws: SignInError.self) {
                    try await endpoint.renew(Secret("r3fresh"))
                }
                #expect(error.kind == .unreachable)
                expectClean(error, of: "s3cret", "r3fresh")
                #expect(server.record.requests.count == 1)
            }
        }
    }
}
