import Glibc
import LoopKit
import Synchronization
import Testing

@Suite("Loop executor", .timeLimit(.minutes(5)))
struct LoopExecutorTests {
    let loop = EventLoop()

    @Test("A task with a loop's executor stays on the loop's thread across waits, and so do its children")
    func oneThread() async throws {
        let pairs = try (0..<8).map { _ in try SocketPair(loop) }
        let threads = try await withThrowingTaskGroup(of: Set<String>.self) { group in
            for pair in pairs {
                group.addTask(executorPreference: loop.executor) {
                    var threads: Set<String> = [here()]
                    while pair.receive() == .wouldBlock {
                        _ = try await pair.watched.readable()
                        threads.insert(here())
                    }
                    await Task.yield()
                    async let child = here()
                    threads.insert(await child)
                    return threads
                }
            }
            for pair in pairs { pair.send() }
            return try await group.reduce(into: Set()) { $0.formUnion($1) }
        }
        #expect(threads.count == 1)
        for pair in pairs { pair.end() }
    }

    @Test("Descriptors are polled even while tasks keep the thread busy")
    func fairness() async throws {
        let pair = try SocketPair(loop)
        let isRead = Flag()
        await withTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: loop.executor) {
                while !isRead.isSet { await Task.yield() }
            }
            group.addTask(executorPreference: loop.executor) {
                while pair.receive() == .wouldBlock { _ = await pair.watched.readyThroughCancellation(.readable) }
                isRead.set()
            }
            group.addTask { pair.send() }
        }
        #expect(isRead.isSet)
        pair.end()
    }

    @Test("Deadlines are met even while tasks keep the thread busy")
    func deadline() async throws {
        let pair = try SocketPair(loop)
        let isOver = Flag()
        await withTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: loop.executor) {
                while !isOver.isSet { await Task.yield() }
            }
            group.addTask {
                _ = pair.receive()
                let wake = await pair.watched.readyThroughCancellation(.readable, until: .now + .milliseconds(10))
                #expect(wake == .timedOut)
                isOver.set()
            }
        }
        pair.end()
    }

    @Test("A task runs on another thread if its loop has stopped or never started")
    func elsewhere() async throws {
        let idle = EventLoop()
        #expect(await Task(executorPreference: idle.executor) { 7 }.value == 7)
        try loop.start()
        let (stream, signal) = AsyncStream.makeStream(of: Int.self)
        let (begun, beginning) = AsyncStream.makeStream(of: String.self)
        let task = Task(executorPreference: loop.executor) {
            beginning.yield(here())
            for await number in stream { return (number, here()) }
            return (0, here())
        }
        var iterator = begun.makeAsyncIterator()
        let first = try #require(await iterator.next())
        loop.stop()
        signal.yield(8)
        let (number, second) = await task.value
        #expect(number == 8 && first != second)
    }

    /// Holds the only reference to a loop.
    private final class Holder: Sendable {
        private let loop = Mutex<EventLoop?>(EventLoop())

        func start() throws -> any TaskExecutor {
            let loop = try #require(loop.withLock { $0 })
            try loop.start()
            return loop.executor
        }

        func letGo() {
            let last = loop.withLock { $0.take() }
            #expect(last != nil)
        }
    }

    @Test("The last reference to a loop may be released on its own thread")
    func lastReference() async throws {
        for _ in 0..<100 {
            let holder = Holder()
            let executor = try holder.start()
            await Task(executorPreference: executor) {
                holder.letGo()
                await Task.yield()
            }.value
        }
    }

    @Test("All jobs run, whichever thread adds them, and the loop wakes up for them")
    func manyTasks() async throws {
        try loop.start()
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<20_000 {
                group.addTask(executorPreference: loop.executor) {
                    await Task.yield()
                    return number
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 20_000 * 19_999 / 2)
    }
}

/// The system's id of this thread: a `pthread_self` value may soon belong to another thread.
private func here() -> String {
    var path = [CChar](repeating: 0, count: 100)
    let count = unsafe readlink("/proc/thread-self", &path, 100)
    return String(decoding: path.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
