import Capabilities
import CoreTesting
import Glibc
import HTTPTesting
import StorageKit
import Testing

@testable import GatewayStore

@Suite("Answers that end at the same time", .timeLimit(.minutes(5)))
struct AccountTests {
    private static func entry(_ number: Int) -> UsageEntry {
        UsageEntry(
            provider: "p", model: "m\(number % 3)",
            usage: Usage(inputTokens: number, outputTokens: 1, cost: Cost(nanodollars: number)))
    }

    @Test("All answers are counted exactly once")
    func together() async throws {
        try await withStore { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 1...300 { group.addTask { try await store.account(Self.entry(number)) } }
                try await group.waitForAll()
            }
            let sum = try await store.stats().usage
            #expect(sum.answers == 300 && sum.usage.inputTokens == 300 * 301 / 2 && sum.usage.outputTokens == 300)
            #expect(sum.usage.cost == Cost(nanodollars: 300 * 301 / 2))
            #expect(try await store.usage(by: .model).map(\.answers).sorted() == [100, 100, 100])
        }
    }

    @Test("Answers of cancelled tasks are counted and stored when the call returns")
    func cancelled() async throws {
        try await withStore { store in
            let task = Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                try await store.account(Self.entry(7))
                return try await store.number("SELECT count(*) FROM usage")
            }
            // The cancelled task can write, but not read.
            await #expect(throws: CancellationError.self) { try await task.value }
            let sum = try await store.stats().usage
            #expect(sum.usage.inputTokens == 7)
        }
    }

    @Test("Answers that wait behind another one are stored when the store is closed")
    func waiting() async throws {
        try await TemporaryDirectory.run { folder in
            let store = GatewayStore.open(folder)
            // The first waits for the database, and the others wait behind it.
            let gate = Gate()
            let blocker = Task { try await store.database.write { _ in gate.pass() } }
            try await gate.reached()
            var tasks: [Task<Void, any Error>] = []
            for number in 1...5 {
                tasks.append(Task { try await store.account(Self.entry(number)) })
                for _ in 0..<2000 { await Task.yield() }
            }
            let closing = Task { await store.close() }
            for _ in 0..<2000 { await Task.yield() }
            gate.open()
            try await blocker.value
            for task in tasks { try await task.value }
            await closing.value
            let again = GatewayStore.open(folder)
            let sum = try await again.stats().usage
            #expect(sum.answers == 5 && sum.usage.inputTokens == 15)
            await again.close()
        }
    }

    @Test("A closed store refuses answers, and no caller waits forever")
    func closed() async throws {
        try await TemporaryDirectory.run { folder in
            let store = GatewayStore.open(folder)
            try await store.account(Self.entry(1))
            await store.close()
            await withTaskGroup(of: StorageError.Kind?.self) { group in
                for number in 1...20 {
                    group.addTask {
                        do { try await store.account(Self.entry(number)) } catch {
                            return (error as? StorageError)?.kind
                        }
                        return nil
                    }
                }
                for await kind in group { #expect(kind == .closed) }
            }
        }
    }
}
