import Capabilities
import Synchronization
import Testing

@testable import AuthSignIn

@Suite("The keeper of a session", .timeLimit(.minutes(5)))
struct KeeperTests {
    private let time = TestTime()

    @Test("gives the stored token and asks nobody while it is good")
    func good() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        for _ in 0..<10 { #expect(try await keeper.session().token == "access-0") }
        #expect(source.state.withLock { $0.loads } == 1)
        #expect(source.renewals == 0)
        await keeper.close()
    }

    @Test("renews half a minute before the end, and stores what it got")
    func beforeTheEnd() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        time.move(by: .seconds(269))
        #expect(try await keeper.session().token == "access-0")
        time.move(by: .seconds(1))
        #expect(try await keeper.session().token == "access-1")
        #expect(source.stored?.token == "access-1" && source.stored?.refreshToken?.revealed == "refresh-of-access-1")
        #expect(try await keeper.session().token == "access-1")
        #expect(source.renewals == 1)
        await keeper.close()
    }

    @Test("renews a session that was over already when it was loaded")
    func longOver() async throws {
        let source = MemorySource(
            .sample("access-0", expiresIn: .seconds(-86_400)), renewing: { _, _ in .sample("new") })
        let keeper = SessionKeeper(source, now: time.clock)
        #expect(try await keeper.session().token == "new")
        #expect(source.renewals == 1)
        await keeper.close()
    }

    @Test("renews a token without expiry only after a 401")
    func withoutExpiry() async throws {
        let source = MemorySource(.sample("access-0", expiresIn: nil))
        let keeper = SessionKeeper(source, now: time.clock)
        time.move(by: .seconds(1 << 30))
        let session = try await keeper.session()
        #expect(session.token == "access-0" && source.renewals == 0)
        #expect(try await keeper.session(refusing: session.accessToken).token == "access-1")
        #expect(source.renewals == 1)
        await keeper.close()
    }

    @Test("survives clocks that jump in both directions")
    func jumps() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        time.move(by: .seconds(-1_000_000))
        let session = try await keeper.session()
        #expect(session.token == "access-0")
        #expect(try await keeper.session(refusing: session.accessToken).token == "access-1")
        time.move(by: .seconds(1_003_870))
        #expect(try await keeper.session().token == "access-2")
        #expect(source.renewals == 2)
        await keeper.close()
    }

    @Test("tells who comes with an older token to repeat with the newer, and renews nothing")
    func olderToken() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        let first = try await keeper.session()
        let second = try await keeper.session(refusing: first.accessToken)
        for _ in 0..<5 {
            #expect(try await keeper.session(refusing: first.accessToken).token == second.token)
        }
        #expect(source.renewals == 1)
        await keeper.close()
    }

    @Test("takes the tokens that somebody else has stored instead of renewing")
    func renewedElsewhere() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        let session = try await keeper.session()
        source.state.withLock { $0.stored = .sample("theirs") }
        #expect(try await keeper.session(refusing: session.accessToken).token == "theirs")
        #expect(source.renewals == 0)
        await keeper.close()
    }

    @Test("looks again once it has the lock, because somebody may have renewed while it waited")
    func renewedMeanwhile() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        let session = try await keeper.session()
        let (inside, leave) = (SharedWork<Void>(), SharedWork<Void>())
        async let holder: Void = source.exclusively {
            inside.finish(.success(()))
            try await leave.value()
            try await source.store(.sample("theirs"))
        }
        try await inside.value()
        let before = source.state.withLock { $0.loads }
        async let mine = keeper.session(refusing: session.accessToken)
        while source.state.withLock({ $0.loads }) == before { await Task.yield() }
        leave.finish(.success(()))
        try await holder
        #expect(try await mine.token == "theirs")
        #expect(source.renewals == 0)
        await keeper.close()
    }

    @Test("keeps the refresh token when a renewal brings none")
    func keepsRefreshToken() async throws {
        let source = MemorySource(.sample("access-0")) { old, _ in .sample("access-1", refreshToken: nil) }
        let keeper = SessionKeeper(source, now: time.clock)
        let session = try await keeper.session()
        _ = try await keeper.session(refusing: session.accessToken)
        #expect(source.stored?.refreshToken?.revealed == "refresh-0")
        await keeper.close()
    }

    @Test("does not renew at every request when tokens live shorter than the margin")
    func shortLives() async throws {
        let time = time
        let source = MemorySource(.sample("access-0", expiresIn: .zero)) { old, number in
            var session = Session.sample("access-\(number)")
            session.received = time.now
            session.expiry = time.now.advanced(by: .seconds(10))
            return session
        }
        let keeper = SessionKeeper(source, now: time.clock)
        for _ in 0..<20 { #expect(try await keeper.session().token == "access-1") }
        time.move(by: .seconds(5))
        #expect(try await keeper.session().token == "access-2")
        await keeper.close()
    }

    @Test("forgets what it knew when somebody signs in anew")
    func adopting() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        _ = try await keeper.session()
        try await keeper.adopt(.sample("fresh"))
        #expect(try await keeper.session().token == "fresh")
        #expect(source.stored?.token == "fresh")
        await keeper.close()
    }

    @Test("what a renewal brought is forgotten when somebody signs in before it could be kept")
    func resetAfterRenewal() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        let session = try await keeper.session()
        source.leaving.close()
        async let renewed = keeper.session(refusing: session.accessToken)
        try await source.leaving.waitForArrival()
        source.state.withLock { $0.stored = .sample("fresh") }
        keeper.reset()
        source.leaving.open()
        #expect(try await renewed.token == "access-1")
        #expect(try await keeper.session().token == "fresh")
        await keeper.close()
    }

    @Test("a renewal from before a new sign-in does not come back after it")
    func adoptingDuringRenewal() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        let session = try await keeper.session()
        source.gate.close()
        async let renewed = keeper.session(refusing: session.accessToken)
        try await source.gate.waitForArrival()
        async let adopted = keeper.adopt(.sample("fresh"))
        source.gate.open()
        _ = try await renewed
        _ = try await adopted
        #expect(try await keeper.session().token == "fresh")
        #expect(source.stored?.token == "fresh")
        await keeper.close()
    }
}
