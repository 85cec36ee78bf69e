import Capabilities
import Synchronization
import Testing

@testable import AuthSignIn

@Suite("End of a session", .timeLimit(.minutes(5)))
struct KeeperEndTests {
    private let time = TestTime()

    private func failure(_ body: () async throws -> Session) async throws -> SignInError {
        try await #require(throws: SignInError.self) { try await body() }
    }

    @Test("A refused renewal ends the session for all waiting callers without another request")
    func refused() async throws {
        let source = MemorySource(.sample("access-0"))
        source.state.withLock { $0.failures = [SignInError.refused("no", reason: "invalid_grant")] }
        let keeper = SessionKeeper(source, now: time.clock)
        let session = try await keeper.session()
        source.gate.close()
        await withTaskGroup(of: SignInError.Kind?.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    do {
                        _ = try await keeper.session(refusing: session.accessToken)
                        return nil
                    } catch {
                        return (error as? SignInError)?.kind
                    }
                }
            }
            source.gate.open()
            for await kind in group { #expect(kind == .signInAgain) }
        }
        for _ in 0..<10 {
            let error = try await failure { try await keeper.session() }
            #expect(error.kind == .signInAgain && error.exit == .denied && error.code == "auth.sign-in-again")
        }
        #expect(source.renewals == 1)
        #expect(source.stored?.hasEnded == true)
        let other = SessionKeeper(source, now: time.clock)
        #expect(try await failure { try await other.session() }.kind == .signInAgain)
        #expect(source.renewals == 1)
        await keeper.close()
        await other.close()
    }

    @Test("A session from a sign-in elsewhere is used after the old one ended")
    func afterTheEnd() async throws {
        var ended = Session.sample("access-0")
        ended.hasEnded = true
        let source = MemorySource(ended)
        let keeper = SessionKeeper(source, now: time.clock)
        #expect(try await failure { try await keeper.session() }.kind == .signInAgain)
        source.state.withLock { $0.stored = .sample("fresh") }
        #expect(try await keeper.session().token == "fresh")
        await keeper.close()
    }

    @Test("A failed renewal keeps the session and is retried only after a growing pause")
    func unreachable() async throws {
        let source = MemorySource(.sample("access-0"))
        source.state.withLock { $0.failures = [SignInError(.unreachable, "no way there")] }
        let keeper = SessionKeeper(source, now: time.clock)
        let session = try await keeper.session()
        let error = try await failure { try await keeper.session(refusing: session.accessToken) }
        #expect(error.kind == .unreachable && error.exit == .unreachable)
        #expect(source.stored?.token == "access-0" && source.stored?.hasEnded == false)
        for _ in 0..<10 {
            let again = try await failure { try await keeper.session(refusing: session.accessToken) }
            #expect(again.kind == .unreachable && source.renewals == 1)
        }
        source.state.withLock { $0.failures = [SignInError(.unreachable, "no way there")] }
        time.move(by: .seconds(1))
        _ = try await failure { try await keeper.session(refusing: session.accessToken) }
        #expect(source.renewals == 2)
        time.move(by: .seconds(1))
        _ = try await failure { try await keeper.session(refusing: session.accessToken) }
        #expect(source.renewals == 2)
        // A clock that was set back does not make anyone wait longer.
        time.move(by: .seconds(-100))
        #expect(try await keeper.session(refusing: session.accessToken).token == "access-3")
        await keeper.close()
    }

    @Test("A personal token is never renewed: its 401 requires a new sign-in")
    func personal() async throws {
        let token = Session(
            accessToken: Secret("pat"), refreshToken: Secret("unused"), expiry: TestTime.start,
            kind: .personal(id: "1", name: nil), origin: "https://lab.example:443")
        let source = MemorySource(token)
        let keeper = SessionKeeper(source, now: time.clock)
        #expect(try await keeper.session().token == "pat")
        let error = try await failure { try await keeper.session(refusing: Secret("pat")) }
        #expect(error.kind == .signInAgain)
        #expect(source.renewals == 0)
        source.state.withLock { $0.stored = .sample("fresh") }
        #expect(try await keeper.session(refusing: Secret("pat")).token == "fresh")
        await keeper.close()
    }

    @Test("A session without a refresh token lasts until its 401")
    func withoutRefreshToken() async throws {
        let source = MemorySource(.sample("access-0", refreshToken: nil))
        let keeper = SessionKeeper(source, now: time.clock)
        time.move(by: .seconds(1000))
        #expect(try await keeper.session().token == "access-0")
        #expect(try await failure { try await keeper.session(refusing: Secret("access-0")) }.kind == .signInAgain)
        #expect(source.renewals == 0)
        await keeper.close()
    }

    @Test("Without a session, the keeper reports that no one is signed in")
    func signedOut() async throws {
        let keeper = SessionKeeper(MemorySource(nil), now: time.clock)
        let error = try await failure { try await keeper.session() }
        #expect(error.kind == .signedOut && error.exit == .denied)
        await keeper.close()
    }

    @Test("Signing out or in as another user in another process is noticed at the next request")
    func changedElsewhere() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        #expect(try await keeper.session().token == "access-0")
        source.state.withLock { $0.stored = nil }
        #expect(try await failure { try await keeper.session() }.kind == .signedOut)
        source.state.withLock { $0.stored = .sample("of bob") }
        #expect(try await keeper.session().token == "of bob")
        source.state.withLock { $0.stored = .sample("of carol") }
        #expect(try await keeper.session().token == "of carol")
        #expect(source.renewals == 0)
        await keeper.close()
    }

    @Test("A source without marks is read for every request")
    func withoutMark() async throws {
        let source = MemorySource(.sample("access-0"), hasMark: false)
        let keeper = SessionKeeper(source, now: time.clock)
        #expect(try await keeper.session().token == "access-0")
        source.state.withLock { $0.stored = .sample("of bob") }
        #expect(try await keeper.session().token == "of bob")
        await keeper.close()
    }

    @Test("Signing out elsewhere is noticed at the next renewal, and nothing is stored")
    func signedOutMeanwhile() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        let session = try await keeper.session()
        source.state.withLock { $0.stored = nil }
        #expect(try await failure { try await keeper.session(refusing: session.accessToken) }.kind == .signedOut)
        #expect(source.stored == nil && source.renewals == 0)
        await keeper.close()
    }

    @Test("Tokens that could not be stored are kept and stored later, because the old ones are used up")
    func storageFails() async throws {
        let source = MemorySource(.sample("access-0", expiresIn: nil))
        let keeper = SessionKeeper(source, now: time.clock)
        let session = try await keeper.session()
        source.state.withLock { $0.storeFailures = [MemorySource.Broken(), MemorySource.Broken()] }
        for _ in 0..<2 {
            await #expect(throws: MemorySource.Broken.self) {
                try await keeper.session(refusing: session.accessToken)
            }
        }
        #expect(try await keeper.session(refusing: session.accessToken).token == "access-1")
        #expect(source.stored?.token == "access-1" && source.renewals == 1)
        await keeper.close()
    }

    @Test("Closing the keeper tries once more to store unsaved tokens")
    func storageFailsUntilClose() async throws {
        let source = MemorySource(.sample("access-0", expiresIn: nil))
        let keeper = SessionKeeper(source, now: time.clock)
        let session = try await keeper.session()
        source.state.withLock { $0.storeFailures = [MemorySource.Broken()] }
        await #expect(throws: MemorySource.Broken.self) { try await keeper.session(refusing: session.accessToken) }
        await keeper.close()
        #expect(source.stored?.token == "access-1")
    }

    @Test("Unsaved tokens do not replace those of a newer sign-in")
    func storageFailsBeforeSignIn() async throws {
        let source = MemorySource(.sample("access-0", expiresIn: nil))
        let keeper = SessionKeeper(source, now: time.clock)
        let session = try await keeper.session()
        source.state.withLock { $0.storeFailures = [MemorySource.Broken()] }
        await #expect(throws: MemorySource.Broken.self) { try await keeper.session(refusing: session.accessToken) }
        source.state.withLock { $0.stored = .sample("fresh", expiresIn: nil) }
        await keeper.close()
        #expect(source.stored?.token == "fresh")
    }

    @Test("A closed keeper starts no renewal")
    func closed() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        await keeper.close()
        await keeper.close()
        #expect(try await failure { try await keeper.session() }.kind == .closed)
        #expect(source.state.withLock { $0.loads } == 0)
    }
}
