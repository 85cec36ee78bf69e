import Glibc
import LoopKit
import Testing

@Suite("Own thread executor", .timeLimit(.minutes(5)))
struct OwnThreadExecutorTests {
    @Test("Tasks that prefer the executor run on one thread outside the shared pool")
    func oneThread() async throws {
        let executor = try OwnThreadExecutor()
        defer { executor.end() }
        let threads = await withTaskGroup(of: pthread_t.self) { group in
            for _ in 0..<20 { group.addTask(executorPreference: executor) { pthread_self() } }
            return await group.reduce(into: Set<pthread_t>()) { $0.insert($1) }
        }
        #expect(threads.count == 1)
    }

    @Test("A task that outlives the executor continues on another thread, however often it yields")
    func afterEnd() async throws {
        let executor = try OwnThreadExecutor()
        executor.end()
        let count = await Task(executorPreference: executor) {
            var count = 0
            for _ in 0..<200_000 {
                await Task.yield()
                count += 1
            }
            return count
        }.value
        #expect(count == 200_000)
    }
}
