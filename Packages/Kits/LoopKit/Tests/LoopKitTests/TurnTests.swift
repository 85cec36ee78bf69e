import LoopKit
import Synchronization
import Testing

@Suite("Turns", .timeLimit(.minutes(5)))
struct TurnTests {
    @Test("Only one task at a time has the turn, even across suspensions")
    func exclusive() async throws {
        let turn = Turn()
        let inside = Inside()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    for _ in 0..<20 {
                        try await turn.take()
                        #expect(inside.enter() == 1)
                        await Task.yield()
                        inside.leave()
                        turn.pass()
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A cancelled wait throws, and later tasks still get their turn")
    func cancelled() async throws {
        let turn = Turn()
        try await turn.take()
        let first = Task { try await turn.take() }
        let second = Task {
            try await turn.take()
            turn.pass()
        }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        turn.pass()
        try await second.value
        try await turn.take()
        turn.pass()
    }

    /// Counts the tasks that have the turn.
    private final class Inside: Sendable {
        private let count = Mutex(0)

        func enter() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }

        func leave() { count.withLock { $0 -= 1 } }
    }
}
