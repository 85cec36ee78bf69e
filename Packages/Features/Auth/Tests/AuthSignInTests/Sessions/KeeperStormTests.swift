import Capabilities
import Synchronization
import Testing

@testable import AuthSignIn

@Suite("Concurrent requests", .timeLimit(.minutes(5)))
struct KeeperStormTests {
    private let time = TestTime()

    @Test("Requests with an expired token cause one renewal", arguments: [10, 1000])
    func stale(count: Int) async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        time.move(by: .seconds(280))
        let tokens = try await all(count) { try await keeper.session().token }
        #expect(tokens == Array(repeating: "access-1", count: count))
        #expect(source.renewals == 1)
        await keeper.close()
    }

    @Test("Requests that get a 401, early or late, cause one renewal", arguments: [10, 1000])
    func refused(count: Int) async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        let tokens = try await all(count) {
            let session = try await keeper.session()
            guard session.token == "access-0" else { return session.token }
            return try await keeper.session(refusing: session.accessToken).token
        }
        #expect(tokens == Array(repeating: "access-1", count: count))
        #expect(source.renewals == 1)
        await keeper.close()
    }

    @Test("Requests with and without a 401 share one renewal")
    func mixed() async throws {
        let source = MemorySource(.sample("access-0", expiresIn: .zero)) { _, _ in .sample("new") }
        let keeper = SessionKeeper(source, now: time.clock)
        let old = Secret("access-0")
        try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<300 {
                group.addTask { try await keeper.session(refusing: number.isMultiple(of: 3) ? old : nil).token }
            }
            for try await token in group { #expect(token == "new") }
        }
        #expect(source.renewals == 1)
        await keeper.close()
    }

    @Test("Requests with a 401 do not mistake the first read of storage for a renewal")
    func joiningAnother() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        source.loading.close()
        async let first = keeper.session()
        try await source.loading.waitForArrival()
        async let second = keeper.session(refusing: Secret("access-0"))
        while keeper.state.withLock({ $0.renewal?.work.waiters }) != 2 { await Task.yield() }
        source.loading.open()
        #expect(try await first.token == "access-0")
        #expect(try await second.token == "access-1")
        #expect(source.renewals == 1)
        await keeper.close()
    }

    @Test("One cancelled request ends at once, and the others get their token")
    func oneCancelled() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        time.move(by: .seconds(280))
        source.gate.close()
        async let other = keeper.session()
        let one = Task { try await keeper.session() }
        try await source.gate.waitForArrival()
        one.cancel()
        await #expect(throws: CancellationError.self) { try await one.value }
        source.gate.open()
        #expect(try await other.token == "access-1")
        #expect(source.renewals == 1)
        await keeper.close()
    }

    @Test("A renewal is finished and stored although all its requests are cancelled, and close waits for it")
    func allCancelled() async throws {
        let source = MemorySource(.sample("access-0"))
        let keeper = SessionKeeper(source, now: time.clock)
        time.move(by: .seconds(280))
        source.gate.close()
        let waiting = (0..<10).map { _ in Task { try await keeper.session() } }
        try await source.gate.waitForArrival()
        for task in waiting {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(source.stored?.token == "access-0")
        let hasClosed = Mutex(false)
        async let closed: Void = {
            await keeper.close()
            hasClosed.withLock { $0 = true }
        }()
        while keeper.state.withLock({ !$0.isClosed }) { await Task.yield() }
        for _ in 0..<100 { await Task.yield() }
        #expect(!hasClosed.withLock { $0 })
        source.gate.open()
        await closed
        #expect(source.stored?.token == "access-1")
        #expect(source.renewals == 1)
    }

    private func all(_ count: Int, _ body: @escaping @Sendable () async throws -> String) async throws -> [String] {
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<count { group.addTask { try await body() } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }
}
