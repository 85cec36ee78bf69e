import Capabilities
import Synchronization
import Testing

@testable import AuthSignIn

@Suite("Session keeper", .timeLimit(.minutes(5)))
struct KeeperTests {
    private let time = TestTime()

    @Test("A valid stored token is used without a request")
    func good() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        for _ in 0..<10 { #expect(try await keeper.session().token == "access-0") }
        #expect(source.state.withLock { $0.loads } == 1)
        #expect(source.renewals == 0)
        await keeper.close()
    }

    @Test("A token is renewed half a minute before its expiry and stored")
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

    @Test("A session that had expired when it was loaded is renewed")
    func longOver() async throws {
        let source = MemorySource(
            .sample("access-0", expiresIn: .seconds(-86_400)), renewing: { _, _ in .sample("new") })
        let keeper = SessionKeeper(source, now: time.clock)
        #expect(try await keeper.session().token == "new")
        #expect(source.renewals == 1)
        await keeper.close()
    }

    @Test("A token without an expiry is renewed only after a 401")
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

    @Test("Clocks that jump in both directions do no harm")
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

    @Test("A caller with an older token gets the newer one without a renewal")
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

    @Test("Tokens that another process has stored are used instead of a renewal")
    func renewedElsewhere() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        let session = try await keeper.session()
        source.state.withLock { $0.stored = .sample("theirs") }
        #expect(try await keeper.session(refusing: session.accessToken).token == "theirs")
        #expect(source.renewals == 0)
        await keeper.close()
    }

    @Test("The session is read again under the lock, because another process may have renewed it")
    func renewedMeanwhile() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        let session = try await keeper.session()
        let (inside, leave) = (Promise<Void>(), Promise<Void>())
        async let holder: Void = source.exclusively {
            inside.settle(())
            try await leave.value()
            try await source.store(.sample("theirs"))
        }
        try await inside.value()
        let before = source.state.withLock { $0.loads }
        async let mine = keeper.session(refusing: session.accessToken)
        while source.state.withLock({ $0.loads }) == before { await Task.yield() }
        leave.settle(())
        try await holder
        #expect(try await mine.token == "theirs")
        #expect(source.renewals == 0)
        await keeper.close()
    }

    @Test("The refresh token is kept when a renewal returns none")
    func keepsRefreshToken() async throws {
        let source = MemorySource(.sample("access-0")) { old, _ in .sample("access-1", refreshToken: nil) }
        let keeper = SessionKeeper(source, now: time.clock)
        let session = try await keeper.session()
        _ = try await keeper.session(refusing: session.accessToken)
        #expect(source.stored?.refreshToken?.revealed == "refresh-0")
        await keeper.close()
    }

    @Test("Tokens with a lifetime under the margin are not renewed for every request")
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

    @Test("A new sign-in clears the cached session")
    func adopting() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        _ = try await keeper.session()
        try await keeper.adopt(.sample("fresh"))
        #expect(try await keeper.session().token == "fresh")
        #expect(source.stored?.token == "fresh")
        await keeper.close()
    }

    @Test("An unsaved renewal is dropped after a new sign-in")
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

    @Test("A renewal from before a new sign-in does not overwrite it")
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
