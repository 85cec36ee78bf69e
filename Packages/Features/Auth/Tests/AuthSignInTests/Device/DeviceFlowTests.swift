import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import HTTPServer
import JSON
import Synchronization
import Testing

@testable import AuthSignIn

@Suite("Device flow", .timeLimit(.minutes(5)))
struct DeviceFlowTests {
    /// Starts a sign-in whose polls get these answers and then tokens.
    private func run(
        answering answers: [String], _ faults: Provider.Faults = .init(),
        _ body: @Sendable (Provider, TestClock, Task<TokenAnswer, any Error>) async throws -> Void
    ) async throws {
        try await Provider.run(faults) { provider in
            provider.state.withLock { $0.deviceAnswers = answers }
            try await withClient { client in
                let configuration = try #require(try await provider.configuration(client))
                var flow = try #require(
                    DeviceFlow(configuration, clientID: "martlet", client: client, now: provider.time.clock))
                let clock = TestClock()
                flow.clock = clock
                let code = try await flow.begin()
                #expect(code.userCode == "WDJB-MJHT" && code.lifetime == .seconds(60))
                #expect(code.completeURI?.query == "code=WDJB-MJHT")
                let task = Task { [flow] in try await flow.wait(for: code) }
                try await body(provider, clock, task)
                task.cancel()
            }
        }
    }

    @Test("The flow polls at the server's interval until the user has signed in")
    func works() async throws {
        try await run(answering: ["authorization_pending", "authorization_pending"]) { provider, clock, task in
            for poll in 0..<3 {
                await clock.waitForSleepers()
                #expect(provider.tokenRequests.count == poll)
                clock.advance(by: .seconds(5))
            }
            let tokens = try await task.value
            #expect(tokens.accessToken.revealed.hasPrefix("access-secret"))
            #expect(provider.tokenRequests.count == 3)
            #expect(provider.tokenRequests.allSatisfy { $0["device_code"] == "device-code-7d1f" })
        }
    }

    @Test("A second code without offline tokens follows when the server refuses them after the sign-in")
    func withoutOfflineTokens() async throws {
        try await Provider.run { provider in
            provider.state.withLock { $0.deviceAnswers = ["not_allowed"] }
            try await withClient { client in
                let configuration = try #require(try await provider.configuration(client))
                var flow = try #require(
                    DeviceFlow(configuration, clientID: "martlet", client: client, now: provider.time.clock))
                let clock = TestClock()
                let shown = Mutex(0)
                let told = Mutex(0)
                flow.clock = clock
                flow.notice = { _ in told.withLock { $0 += 1 } }
                async let answer = flow.run { _ in shown.withLock { $0 += 1 } }
                for _ in 0..<2 {
                    await clock.waitForSleepers()
                    clock.advance(by: .seconds(5))
                }
                #expect(try await answer.accessToken.revealed.hasPrefix("access-secret"))
                #expect(shown.withLock { $0 } == 2 && told.withLock { $0 } == 1)
                #expect(
                    provider.deviceRequests.map { $0["scope"] }
                        == ["openid email profile offline_access", "openid email profile"])
            }
        }
    }

    @Test("slow_down adds five seconds to the interval each time")
    func slowDown() async throws {
        try await run(answering: ["slow_down", "slow_down"]) { provider, clock, task in
            for (poll, wait) in [(0, 5), (1, 10), (2, 15)] {
                await clock.waitForSleepers()
                clock.advance(by: .seconds(wait - 1))
                await clock.waitForSleepers()
                #expect(provider.tokenRequests.count == poll)
                clock.advance(by: .seconds(1))
            }
            _ = try await task.value
            #expect(provider.tokenRequests.count == 3)
        }
    }

    @Test("A refusal from the server ends the flow", arguments: ["access_denied", "expired_token", "invalid_grant"])
    func refused(code: String) async throws {
        try await run(answering: ["authorization_pending", code]) { provider, clock, task in
            for _ in 0..<2 {
                await clock.waitForSleepers()
                clock.advance(by: .seconds(5))
            }
            let error = try await #require(throws: SignInError.self) { try await task.value }
            #expect(error.kind == .refused && error.reason == code && error.exit == .denied)
            expectClean(error, of: "device-code-7d1f")
            #expect(provider.tokenRequests.count == 2)
        }
    }

    @Test("The flow ends when the code expires, whatever the server answers")
    func expired() async throws {
        try await run(answering: Array(repeating: "authorization_pending", count: 100)) { provider, clock, task in
            for _ in 0..<12 {
                await clock.waitForSleepers()
                clock.advance(by: .seconds(5))
            }
            let error = try await #require(throws: SignInError.self) { try await task.value }
            #expect(error.kind == .unanswered && error.exit == .unanswered)
            #expect(provider.tokenRequests.count == 12)
        }
    }

    @Test("The flow continues at half the rate after a temporary server failure")
    func unreachable() async throws {
        var faults = Provider.Faults()
        faults.token = { _ in .text("no healthy upstream", status: .serviceUnavailable) }
        try await run(answering: [], faults) { provider, clock, task in
            for (poll, wait) in [(0, 5), (1, 10), (2, 20)] {
                await clock.waitForSleepers()
                #expect(provider.tokenRequests.count == poll)
                clock.advance(by: .seconds(wait))
            }
            let error = await #expect(throws: SignInError.self) { try await task.value }
            #expect(error?.kind == .unanswered)
        }
    }

    @Test("Cancelling ends the flow at once")
    func cancelled() async throws {
        try await run(answering: []) { provider, clock, task in
            await clock.waitForSleepers()
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(provider.tokenRequests.isEmpty)
        }
    }

    @Test("Unsafe codes and invalid addresses are rejected")
    func hostileCode() throws {
        func code(_ change: (inout JSONObject) -> Void) throws -> DeviceCode {
            var members: JSONObject = [
                "device_code": "d3vice", "user_code": "AB\u{1B}[2J", "verification_uri": "https://lab.example/d",
                "verification_uri_complete": "https://evil.example/d", "expires_in": 1e300, "interval": -1,
            ]
            change(&members)
            return try DeviceCode(.object(members))
        }
        let read = try code { _ in }
        #expect(read.userCode == "AB\\u{1B}[2J" && read.completeURI == nil)
        #expect(read.lifetime == .seconds(3600) && read.interval == .seconds(5))
        let wrong: [(inout JSONObject) -> Void] = [
            { $0["device_code"] = nil }, { $0["user_code"] = " " }, { $0["verification_uri"] = "javascript:alert(1)" },
            { $0["user_code"] = .string(String(repeating: "A", count: 100)) }, { $0["verification_uri"] = nil },
        ]
        for change in wrong {
            let error = try #require(throws: SignInError.self) { try code(change) }
            expectClean(error, of: "d3vice")
        }
    }

    @Test("The flow is nil when the server does not support it")
    func notOffered() async throws {
        var faults = Provider.Faults()
        faults.configuration = { $0["device_authorization_endpoint"] = nil }
        try await Provider.run(faults) { provider in
            try await withClient { client in
                let configuration = try #require(try await provider.configuration(client))
                #expect(!configuration.offersDeviceCode)
                #expect(DeviceFlow(configuration, clientID: "m", client: client, now: provider.time.clock) == nil)
            }
        }
    }
}
