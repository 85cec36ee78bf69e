import CoreTesting
import Synchronization
import Testing

@testable import Capabilities

@Suite("Shared timer", .timeLimit(.minutes(5)))
struct SharedTimerTests {
    private let clock = TestClock()

    /// Work that ignores its cancellation, and hangs until `mayEnd`.
    private func hang(_ limit: Duration, _ timer: SharedTimer, until mayEnd: Promise<Void>) -> Task<String, Never> {
        Task {
            let outcome = await bounded(by: limit, on: timer) {
                await shielded { do { try await mayEnd.value() } catch {} }
            }
            return switch outcome {
            case .ended: "ended"
            case .timedOut: "timed out"
            case .stopped: "stopped"
            }
        }
    }

    private func wait(for count: Int, in timer: SharedTimer) async {
        while timer.count != count { await Task.yield() }
    }

    @Test("Each wait ends after its limit, also one that was begun later and has a shorter one")
    func limits() async throws {
        let mayEnd = Promise<Void>()
        defer { mayEnd.settle(()) }
        try await SharedTimer.run(on: clock) { timer in
            let long = hang(.seconds(60), timer, until: mayEnd)
            await clock.waitForSleepers()
            let short = hang(.seconds(10), timer, until: mayEnd)
            await wait(for: 2, in: timer)
            clock.advance(by: .seconds(10))
            #expect(await short.value == "timed out")
            #expect(timer.count == 1)
            clock.advance(by: .seconds(49))
            let last = hang(.seconds(60), timer, until: mayEnd)
            await wait(for: 2, in: timer)
            clock.advance(by: .seconds(1))
            #expect(await long.value == "timed out")
            clock.advance(by: .seconds(59))
            #expect(await last.value == "timed out")
        }
    }

    @Test("Work that ends in time gives its result and leaves no alarm, and the sleeping task stays asleep")
    func inTime() async throws {
        try await SharedTimer.run(on: clock) { timer in
            let first = Promise<Void>()
            let task = hang(.seconds(60), timer, until: first)
            await clock.waitForSleepers()
            first.settle(())
            #expect(await task.value == "ended")
            #expect(timer.count == 0)
            for number in 0..<100 {
                let promise = Promise<Void>()
                let task = hang(.seconds(60), timer, until: promise)
                await wait(for: 1, in: timer)
                promise.settle(())
                #expect(await task.value == "ended", "\(number)")
            }
            clock.advance(by: .seconds(60))
            let late = hang(.seconds(1), timer, until: Promise())
            await wait(for: 1, in: timer)
            clock.advance(by: .seconds(1))
            #expect(await late.value == "timed out")
        }
    }

    @Test("A cancelled wait ends at once, and one that was cancelled before does not begin its work")
    func cancelled() async throws {
        let mayEnd = Promise<Void>()
        defer { mayEnd.settle(()) }
        try await SharedTimer.run(on: clock) { timer in
            let task = hang(.seconds(60), timer, until: mayEnd)
            await wait(for: 1, in: timer)
            task.cancel()
            #expect(await task.value == "stopped")
            #expect(timer.count == 0)
            let begun = Promise<Void>()
            let stopped = Task {
                while !Task.isCancelled { await Task.yield() }
                guard case .stopped = await bounded(by: .seconds(1), on: timer, { begun.settle(()) }) else {
                    return false
                }
                return true
            }
            stopped.cancel()
            #expect(await stopped.value)
            #expect(!begun.isSettled)
        }
    }

    @Test("Work whose time is over is cancelled, and so is work whose wait was cancelled")
    func cancelling() async throws {
        try await SharedTimer.run(on: clock) { timer in
            for isLate in [true, false] {
                let heard = Promise<Void>()
                let task = Task {
                    await bounded(by: .seconds(10), on: timer) {
                        do { try await Promise<Void>().value() } catch { heard.settle(()) }
                    }
                }
                await wait(for: 1, in: timer)
                if isLate { clock.advance(by: .seconds(10)) } else { task.cancel() }
                try await heard.value()
                _ = await task.value
            }
        }
    }

    @Test("A limit passes although the thread that the work began on does nothing else")
    func heldUp() async throws {
        let thread = HeldExecutor()
        let (begun, mayEnd) = (Promise<Task<String, Never>>(), Promise<Void>())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: thread) { [clock, self] in
                try await SharedTimer.run(on: clock) { timer in
                    let task = hang(.seconds(10), timer, until: mayEnd)
                    begun.settle(task)
                    _ = await task.value
                }
            }
            let task = try await begun.value()
            await clock.waitForSleepers()
            thread.hold(true)
            clock.advance(by: .seconds(10))
            #expect(await task.value == "timed out")
            mayEnd.settle(())
            thread.hold(false)
            try await group.waitForAll()
        }
    }
}

/// Runs jobs on the shared threads, or keeps them like a thread that is busy.
private final class HeldExecutor: TaskExecutor {
    private let kept = Mutex<[UnownedJob]?>(nil)

    func hold(_ holds: Bool) {
        let jobs = kept.withLock { kept in
            defer { kept = holds ? [] : nil }
            return kept ?? []
        }
        for job in jobs { globalConcurrentExecutor.enqueue(job) }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isKept = kept.withLock { kept in
            kept?.append(job)
            return kept != nil
        }
        if !isKept { globalConcurrentExecutor.enqueue(job) }
    }
}
