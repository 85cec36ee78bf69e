import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import JSON
import Synchronization
import Testing

@testable import AuthSignIn

@Suite("Signing in at resources on another device", .timeLimit(.minutes(1)))
struct ResourceDeviceTests {
    private static func faults(_ change: @escaping @Sendable (inout JSONObject) -> Void = { _ in }) -> Provider.Faults {
        var faults = Provider.Faults()
        faults.configuration = { members in
            members["registration_endpoint"] = .string("\(members["issuer"]?.string ?? "")/register")
            change(&members)
        }
        return faults
    }

    /// Starts a sign-in without a browser, whose polls get these answers and then tokens.
    private func run(
        answering answers: [String] = [], _ faults: Provider.Faults = faults(),
        _ body: @Sendable (SignInBench, TestClock, ResourceSessions, Task<Void, any Error>) async throws -> Void
    ) async throws {
        try await SignInBench.run(faults) { given in
            given.provider.state.withLock { $0.deviceAnswers = answers }
            let clock = TestClock()
            let bench = given.having(browser: false, clock: clock)
            let sessions = bench.sessions()
            let task = Task { try await bench.signIn(sessions) }
            try await body(bench, clock, sessions, task)
            task.cancel()
            await sessions.close()
        }
    }

    @Test("Without a browser a code is shown, and polled as the server says")
    func code() async throws {
        try await run(answering: ["authorization_pending", "slow_down"]) { bench, clock, sessions, task in
            for (poll, wait) in [(0, 5), (1, 5), (2, 10)] {
                await clock.waitForSleepers()
                #expect(bench.provider.tokenRequests.count == poll)
                clock.advance(by: .seconds(wait - 1))
                await clock.waitForSleepers()
                #expect(bench.provider.tokenRequests.count == poll)
                clock.advance(by: .seconds(1))
            }
            try await task.value
            #expect(bench.shown.codes.map(\.userCode) == ["WDJB-MJHT"] && bench.shown.addresses.isEmpty)
            let program = try #require(bench.provider.registrations.first)
            #expect(program["grant_types"]?[0]?.string == DeviceFlow.grantType && program["redirect_uris"] == nil)
            let resource = bench.provider.resource.text
            let asked = bench.provider.deviceRequests + bench.provider.tokenRequests
            #expect(asked.count == 4)
            #expect(asked.allSatisfy { $0["client_id"] == "registered-1" && $0["resource"] == resource })
            #expect(asked.first?["scope"] == "use")
            // What it got is renewed as any session is.
            let first = try #require(try await bench.token(sessions))
            bench.provider.state.withLock { $0.deviceAnswers = [] }
            try await bench.signIn(sessions, refusing: first)
            #expect(try await bench.token(sessions) != first && bench.shown.codes.count == 1)
            #expect(bench.provider.tokenRequests.last?["grant_type"] == "refresh_token")
        }
    }

    @Test("A browser of this machine is used if there is one, or if the server has no codes")
    func browser() async throws {
        for (hasBrowser, hasCodes) in [(true, true), (false, false)] {
            let faults = Self.faults { if !hasCodes { $0["device_authorization_endpoint"] = nil } }
            try await SignInBench.run(faults) { given in
                let bench = given.having(browser: hasBrowser)
                let sessions = bench.sessions()
                try await bench.signIn(sessions)
                #expect(bench.shown.codes.isEmpty && bench.shown.addresses.count == 1)
                await sessions.close()
            }
        }
    }

    @Test("A code is used beside a browser where the server has nothing else")
    func onlyCodes() async throws {
        let faults = Self.faults { $0["code_challenge_methods_supported"] = nil }
        try await SignInBench.run(faults) { given in
            let clock = TestClock()
            let bench = given.having(browser: true, clock: clock)
            let sessions = bench.sessions()
            async let done: Void = bench.signIn(sessions)
            await clock.waitForSleepers()
            clock.advance(by: .seconds(5))
            try await done
            #expect(bench.shown.codes.count == 1 && bench.shown.addresses.isEmpty)
            await sessions.close()
        }
    }

    @Test("A refusal ends the sign-in, and nothing is stored", arguments: ["access_denied", "expired_token"])
    func refused(code: String) async throws {
        try await run(answering: [code]) { bench, clock, sessions, task in
            await clock.waitForSleepers()
            clock.advance(by: .seconds(5))
            let error = try await #require(throws: SignInError.self) { try await task.value }
            #expect(error.kind == .refused && error.reason == code && error.exit == .denied)
            expectClean(error, of: "device-code-7d1f")
            #expect(try await bench.token(sessions) == nil)
        }
    }

    @Test("A code that nobody enters expires")
    func expired() async throws {
        let answers = Array(repeating: "authorization_pending", count: 20)
        try await run(answering: answers) { bench, clock, sessions, task in
            for _ in 0..<12 {
                await clock.waitForSleepers()
                clock.advance(by: .seconds(5))
            }
            let error = await #expect(throws: SignInError.self) { try await task.value }
            #expect(error?.kind == .unanswered && error?.exit == .unanswered)
            let token = try await bench.token(sessions)
            #expect(token == nil)
        }
    }

    @Test("Cancelling ends the wait at once, and nothing is stored")
    func cancelled() async throws {
        try await run { bench, clock, sessions, task in
            await clock.waitForSleepers()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            let token = try await bench.token(sessions)
            #expect(token == nil && bench.provider.tokenRequests.isEmpty)
        }
    }

    @Test("Addresses that are not reached by TLS are not used")
    func plain() async throws {
        let plain: JSON = "http://login.example/device"
        let endpoint = Self.faults { $0["device_authorization_endpoint"] = plain }
        var page = Self.faults()
        page.device = { $0["verification_uri"] = plain }
        for (faults, words) in [(endpoint, "does not use TLS"), (page, "no safe address")] {
            try await run(faults) { bench, _, _, task in
                let error = await #expect(throws: SignInError.self) { try await task.value }
                #expect(error?.kind == .badAnswer && error?.message.contains(words) == true)
                #expect(bench.shown.codes.isEmpty && bench.provider.tokenRequests.isEmpty)
            }
        }
    }

    @Test(
        "What the caller may not reach is refused before its name is looked up, also in the middle of the sign-in",
        arguments: ["device_authorization_endpoint", "token_endpoint"])
    func notPermitted(endpoint: String) async throws {
        var configuration = HTTPClient.Configuration()
        configuration.withoutCaller = Grant(.init(.bundle("small"), hosts: .named(["127.0.0.1"])))
        let faults = Self.faults { $0[endpoint] = "https://login.invalid/somewhere" }
        try await SignInBench.run(faults, configuration) { given in
            let clock = TestClock()
            let bench = given.having(browser: false, clock: clock)
            let sessions = bench.sessions()
            let task = Task { try await bench.signIn(sessions) }
            if endpoint == "token_endpoint" {
                await clock.waitForSleepers()
                clock.advance(by: .seconds(5))
            }
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.kind == .notPermitted && error?.message.contains("login.invalid") == true)
            #expect(bench.shown.codes.count == (endpoint == "token_endpoint" ? 1 : 0))
            await sessions.close()
        }
    }
}
