import Capabilities
import Testing

@Suite("Promise", .timeLimit(.minutes(5)))
struct PromiseTests {
    private struct Refused: Error {}

    @Test("Everyone who waits gets the first value")
    func first() async throws {
        let promise = Promise<Int>()
        let tasks = (0..<8).map { _ in Task { try await promise.value() } }
        while promise.waiters < 8 { await Task.yield() }
        #expect(!promise.isSettled)
        promise.settle(1)
        promise.settle(2)
        promise.settle(with: .failure(Refused()))
        for task in tasks { #expect(try await task.value == 1) }
        #expect(promise.isSettled && promise.waiters == 0)
        #expect(try await promise.value() == 1)
    }

    @Test("An error is thrown to everyone who waits")
    func error() async throws {
        let promise = Promise<Int>()
        let task = Task { try await promise.value() }
        while promise.waiters < 1 { await Task.yield() }
        promise.settle(with: .failure(Refused()))
        promise.settle(1)
        await #expect(throws: Refused.self) { try await task.value }
        await #expect(throws: Refused.self) { try await promise.value() }
    }

    @Test("A cancelled wait ends at once, and others still wait")
    func cancellation() async throws {
        let promise = Promise<Int>()
        let (one, other) = (Task { try await promise.value() }, Task { try await promise.value() })
        while promise.waiters < 2 { await Task.yield() }
        one.cancel()
        await #expect(throws: CancellationError.self) { try await one.value }
        #expect(promise.waiters == 1)
        promise.settle(3)
        #expect(try await other.value == 3)
    }

    @Test("A wait that begins in a cancelled task ends at once, unless there is a value")
    func cancelledBefore() async throws {
        let promise = Promise<Int>()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await promise.value()
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        promise.settle(4)
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await promise.value()
        }
        late.cancel()
        #expect(try await late.value == 4)
    }
}
