import Testing

@testable import Capabilities

@Suite("Signal", .timeLimit(.minutes(5)))
struct SignalTests {
    @Test("All who wait for a number are woken when it is passed, and nobody has to wait for an older one")
    func woken() async throws {
        let signal = Signal()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { try await signal.wait(beyond: 0) } }
            while signal.waiters < 8 { await Task.yield() }
            signal.raise()
            for try await count in group { #expect(count == 1) }
        }
        #expect(try await signal.wait(beyond: 0) == 1 && signal.waiters == 0)
    }

    @Test("A cancelled task does not wait, and does not get a number that is there already")
    func cancelled() async throws {
        let signal = Signal()
        let waiting = Task { try await signal.wait(beyond: 0) }
        while signal.waiters < 1 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        signal.raise()
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await signal.wait(beyond: 0)
        }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(signal.waiters == 0)
    }
}
