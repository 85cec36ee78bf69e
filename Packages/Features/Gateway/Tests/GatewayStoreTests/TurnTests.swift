import Capabilities
import CoreTesting
import GatewayStore
import HTTPTesting
import StorageKit
import Testing
import TurnLoop

@Suite("Turns", .timeLimit(.minutes(5)))
struct TurnTests {
    @Test("One turn runs at a time in a session, across all stores")
    func busy() async throws {
        try await TemporaryDirectory.run { folder in
            let days = Days()
            let (store, other) = (GatewayStore.open(folder, days: days), GatewayStore.open(folder, days: days))
            let session = try await store.makeSession()
            let free = try await store.createSession(NewSession())
            let lease = try await store.beginTurn(session: session.id)
            #expect(!lease.isTakeover)
            for store in [store, other] {
                #expect(try await failure { try await store.beginTurn(session: session.id) } == .busy)
                #expect(try await store.session(session.id)?.isRunning == true)
            }
            try await other.endTurn(try await other.beginTurn(session: free.id))
            try await store.endTurn(lease)
            try await store.endTurn(lease)
            let next = try await other.beginTurn(session: session.id)
            #expect(!next.isTakeover && next.id > lease.id)
            // Ending an old turn again does not end another.
            try await store.endTurn(lease)
            #expect(try await store.session(session.id)?.isRunning == true)
            try await other.endTurn(next)
            await store.close()
            await other.close()
        }
    }

    @Test("Of many concurrent requests one gets the turn")
    func race() async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            let leases = try await withThrowingTaskGroup(of: TurnLease?.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        do {
                            return try await store.beginTurn(session: session.id)
                        } catch let error as GatewayStoreError where error.kind == .busy {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: [TurnLease]()) { leases, lease in
                    if let lease { leases.append(lease) }
                }
            }
            #expect(leases.count == 1)
            for lease in leases { try await store.endTurn(lease) }
        }
    }

    @Test("An ended turn writes nothing")
    func lost() async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            let lease = try await store.beginTurn(session: session.id)
            try await store.append(TurnMessage(Message(.user, "a")), lease: lease)
            try await store.endTurn(lease)
            let late = TurnMessage(Message(.assistant, "b"), usage: Usage(inputTokens: 1))
            #expect(try await failure { try await store.append(late, lease: lease) } == .leaseLost)
            let next = try await store.beginTurn(session: session.id)
            #expect(try await failure { try await store.append(late, lease: lease) } == .leaseLost)
            try await store.append(TurnMessage(Message(.user, "c")), lease: next)
            try await store.endTurn(next)
            #expect(try await store.messages(of: session.id) == [Message(.user, "a"), Message(.user, "c")])
            #expect(try await store.usage(by: .message) == [])
        }
    }

    @Test("A cancelled task still stores messages, counts usage and ends its turn")
    func cancelled() async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            let lease = try await store.beginTurn(session: session.id)
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                let usage = Usage(inputTokens: 1, outputTokens: 2, cost: Cost(nanodollars: 3))
                try await store.append(
                    TurnMessage(Message(.assistant, "half"), isWhole: false, usage: usage), lease: lease)
                try await store.account(UsageEntry(provider: "p", model: "m", usage: usage))
                try await store.audit(AuditEntry(session: session.id, actor: "client", action: "turn.stopped"))
                try await store.endTurn(lease)
            }
            task.cancel()
            try await task.value
            #expect(try await store.messages(of: session.id) == [Message(.assistant, "half")])
            #expect(try await store.storedMessages(of: session.id).items.map(\.isWhole) == [false])
            #expect(try await store.stats().usage.usage.cost == Cost(nanodollars: 6))
            #expect(try await store.auditEntries(session: session.id)?.total == 1)
            #expect(try await store.session(session.id)?.isRunning == false)
        }
    }

    @Test("A task that was cancelled before gets no turn and leaves none behind")
    func cancelledBefore() async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            let task = Task {
                while !Task.isCancelled { await Task.yield() }
                _ = try await store.beginTurn(session: session.id)
            }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await store.session(session.id)?.isRunning == false)
            try await store.endTurn(try await store.beginTurn(session: session.id))
        }
    }

    @Test("Reused process ids and invalid holders keep no session running", arguments: 0..<4)
    func forged(number: Int) async throws {
        try await withStore { store in
            let session = try await store.makeSession()
            let lease = try await store.beginTurn(session: session.id)
            let holder = try await store.database.read { connection in
                try connection.first("SELECT holder FROM turns") { row in try row[0] as String }
            }
            let fields = try #require(holder).split(separator: "/").map(String.init)
            try #require(fields.count == 4)
            let forged = [
                "\(fields[0])/\(fields[1])/1/\(fields[3])", "other-boot/\(fields[1])/\(fields[2])/\(fields[3])",
                "nonsense", "",
            ]
            try await store.database.write { connection in
                _ = try connection.run("UPDATE turns SET holder = ?", forged[number])
            }
            #expect(try await store.session(session.id)?.isRunning == false)
            let next = try await store.beginTurn(session: session.id)
            #expect(next.isTakeover)
            let message = TurnMessage(Message(.user, "a"))
            #expect(try await failure { try await store.append(message, lease: lease) } == .leaseLost)
            try await store.endTurn(next)
        }
    }
}
