import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import JSON
import Synchronization
import Testing

@testable import AuthSignIn

@Suite("Code flow", .timeLimit(.minutes(5)))
struct CodeFlowTests {
    private struct Outcome: Sendable {
        var tokens: TokenAnswer?
        var error: (any Error)?
        var url = ""
        var page = ""
        var requests: [FormFields] = []

        /// The query with which the browser was sent to the server.
        var asked: FormFields {
            get throws {
                let query = try HTTPURL(url).query
                return try #require(FormFields(parsing: query ?? ""))
            }
        }
    }

    /// Runs the whole flow with curl as the browser.
    private func signIn(
        _ faults: Provider.Faults = .init(), _ change: @Sendable (inout CodeFlow) -> Void = { _ in }
    ) async throws -> Outcome {
        try await Provider.run(faults) { provider in
            try await withClient { client in
                let configuration = try #require(try await provider.configuration(client))
                var flow = CodeFlow(configuration, clientID: "martlet", client: client, now: provider.time.clock)
                change(&flow)
                let seen = Mutex(("", ""))
                var outcome = Outcome()
                do {
                    outcome.tokens = try await flow.run { url in
                        let page = try await Curl.browse(url.text)
                        seen.withLock { $0 = (url.text, page) }
                    }
                } catch {
                    outcome.error = error
                }
                (outcome.url, outcome.page) = seen.withLock { $0 }
                outcome.requests = provider.tokenRequests
                return outcome
            }
        }
    }

    @Test("A sign-in returns tokens, and the address does not contain the verifier")
    func works() async throws {
        let outcome = try await signIn { $0.extra = [("kc_idp_hint", "google"), ("state", "mine")] }
        let tokens = try #require(outcome.tokens, "\(String(describing: outcome.error))")
        #expect(tokens.accessToken.revealed.hasPrefix("access-secret"))
        #expect(tokens.refreshToken?.revealed.hasPrefix("refresh-secret") == true)
        #expect(tokens.expiry == TestTime.start.advanced(by: .seconds(300)))
        let query = try outcome.asked
        #expect(query["kc_idp_hint"] == "google" && query.all("state").count == 1 && query["state"] != "mine")
        #expect(query["scope"] == "openid email profile offline_access")
        #expect(query["redirect_uri"]?.hasPrefix("http://127.0.0.1:") == true)
        let verifier = try #require(outcome.requests.first?["code_verifier"])
        #expect(outcome.requests.count == 1 && !outcome.url.contains(verifier))
    }

    @Test(
        "The flow runs again without offline tokens when the server refuses them before or after the sign-in",
        arguments: ["invalid_scope", "not_allowed"])
    func withoutOfflineTokens(code: String) async throws {
        let isFirst = Mutex(true)
        let isRefused: @Sendable () -> Bool = {
            isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
        }
        var faults = Provider.Faults()
        if code == "invalid_scope" {
            faults.redirect = { answer in
                guard isRefused() else { return }
                answer = ["error": code, "state": answer["state"] ?? "", "iss": answer["iss"] ?? ""]
            }
        } else {
            faults.token = { _ in
                isRefused()
                    ? .json(
                        ["error": .string(code), "error_description": "Offline tokens not allowed for the user"], 400)
                    : nil
            }
        }
        let told = Mutex<[String]>([])
        let outcome = try await signIn(faults) { $0.notice = { text in told.withLock { $0.append(text) } } }
        #expect(outcome.tokens != nil, "\(String(describing: outcome.error))")
        #expect(try outcome.asked["scope"] == "openid email profile")
        #expect(told.withLock { $0 }.count == 1)
    }

    @Test("The final page reports the result, loads nothing and contains no code or state")
    func page() async throws {
        let outcome = try await signIn()
        let state = try #require(try outcome.asked["state"])
        let page = outcome.page.split(separator: "\r\n\r\n").last.map(String.init) ?? ""
        #expect(page.contains("You can close this window"))
        for forbidden in ["code-secret", "access-secret", state, "src=", "href=", "http:", "https:", "url("] {
            #expect(!page.contains(forbidden), "\(forbidden)")
        }
    }

    @Test("A refusal ends the flow with the server's reason, escaped for a terminal")
    func declined() async throws {
        var faults = Provider.Faults()
        faults.redirect = { answer in
            answer = [
                "error": "access_denied", "error_description": "not\n\u{1B}[31mtoday", "state": answer["state"] ?? "",
                "iss": answer["iss"] ?? "",
            ]
        }
        let outcome = try await signIn(faults)
        let error = try #require(outcome.error as? SignInError)
        #expect(error.kind == .refused && error.exit == .denied && error.reason == "access_denied")
        #expect(error.message.hasSuffix("the sign-in was declined (not \\u{1B}[31mtoday)"))
        #expect(outcome.requests.isEmpty && outcome.page.contains("You are not signed in"))
        let page = outcome.page.split(separator: "\r\n\r\n").last ?? ""
        #expect(!page.contains("today") && !page.contains("access_denied"))
    }

    @Test("A response from another server or without its issuer is rejected")
    func mixedUp() async throws {
        for issuer in [nil, "https://evil.example"] {
            var faults = Provider.Faults()
            faults.redirect = { answer in
                let kept = answer
                answer = ["code": kept["code"] ?? "", "state": kept["state"] ?? ""]
                if let issuer { answer.append("iss", issuer) }
            }
            let outcome = try await signIn(faults)
            #expect((outcome.error as? SignInError)?.kind == .issuer)
            #expect(outcome.requests.isEmpty)
        }
    }

    @Test("Tokens instead of a code are rejected")
    func tokensInRedirect() async throws {
        var faults = Provider.Faults()
        faults.redirect = { answer in
            let kept = answer
            answer = ["access_token": "theirs-0", "state": kept["state"] ?? "", "iss": kept["iss"] ?? ""]
        }
        let error = try #require(try await signIn(faults).error as? SignInError)
        #expect(error.kind == .badAnswer)
        expectClean(error, of: "theirs-0")
    }

    @Test("A code for another challenge is rejected")
    func wrongChallenge() async throws {
        try await Provider.run { provider in
            try await withClient { client in
                let endpoint = TokenEndpoint(
                    try HTTPURL("\(provider.origin)/token"), clientID: "martlet", client: client,
                    now: provider.time.clock)
                let redirect = try HTTPURL("http://127.0.0.1:1/callback")
                let mine = try PKCE()
                let asked = try AuthorizationRequest(
                    at: try HTTPURL("\(provider.origin)/authorize"), clientID: "martlet", redirectURI: redirect,
                    scopes: [], state: Secret("s"), nonce: nil, pkce: mine)
                let head = try await Curl.run("-i", asked.url.text)
                let code = Secret(String(try #require(head.firstMatch(of: /code=([^&\s]+)/)?.1)))
                let error = await #expect(throws: SignInError.self) {
                    try await endpoint.exchange(code: code, redirectURI: redirect, pkce: try PKCE())
                }
                #expect(error?.reason == "invalid_grant" && error?.kind == .refused)
            }
        }
    }

    @Test("An identity token of another sign-in is rejected")
    func replayed() async throws {
        var faults = Provider.Faults()
        faults.claims = { $0["nonce"] = "of-another-time" }
        let outcome = try await signIn(faults)
        #expect((outcome.error as? SignInError)?.message.contains("another sign-in") == true)
    }

    @Test("The flow times out without a sign-in and closes its port")
    func nobody() async throws {
        try await Provider.run { provider in
            try await withClient { client in
                let configuration = try #require(try await provider.configuration(client))
                let clock = TestClock()
                var flow = CodeFlow(configuration, clientID: "martlet", client: client, now: provider.time.clock)
                flow.clock = clock
                let redirect = Mutex("")
                let tokens = Task { [flow] in
                    try await flow.run { url in
                        redirect.withLock { $0 = FormFields(parsing: url.query ?? "")?["redirect_uri"] ?? "" }
                    }
                }
                await clock.waitForSleepers()
                clock.advance(by: .seconds(300))
                let error = await #expect(throws: SignInError.self) { try await tokens.value }
                #expect(error?.kind == .unanswered && error?.exit == .unanswered)
                #expect(error?.message.contains("5m") == true)
                let port = try HTTPURL(redirect.withLock { $0 })
                let later = await #expect(throws: HTTPError.self) {
                    var request = HTTPRequest(.get, port)
                    request.retry = .none
                    return try await client.send(request)
                }
                #expect(later?.kind == .refused)
            }
        }
    }

    @Test("Cancelling ends the flow at once")
    func cancelled() async throws {
        try await Provider.run { provider in
            try await withClient { client in
                let configuration = try #require(try await provider.configuration(client))
                let shown = Promise<Void>()
                let flow = CodeFlow(configuration, clientID: "martlet", client: client, now: provider.time.clock)
                let task = Task { try await flow.run { _ in shown.settle(()) } }
                try await shown.value()
                task.cancel()
                let error = await #expect(throws: CancellationError.self) { _ = try await task.value }
                #expect(error.map { AnyFailure($0).exit } == .interrupted)
            }
        }
    }

    @Test("The flow does not start when the server does not support it")
    func notOffered() async throws {
        var faults = Provider.Faults()
        faults.configuration = { $0["code_challenge_methods_supported"] = nil }
        let outcome = try await signIn(faults)
        #expect((outcome.error as? SignInError)?.kind == .badAnswer && outcome.url.isEmpty)
    }
}
