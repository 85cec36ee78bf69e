import Testing

@testable import StorageKit

@Suite("Job queue")
struct JobQueueTests {
    private func job() -> Job { Job(cancellation: Cancellation(), run: { _ in }, refuse: { _ in }) }

    @Test("The queue returns jobs in order of arrival, without removed ones")
    func order() {
        let seed = UInt64.random(in: .min ... .max)
        var state = seed
        func random(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
        var queue = JobQueue()
        var expected: [Cancellation] = []
        for _ in 0..<5_000 {
            switch random(3) {
            case 0 where !expected.isEmpty:
                let (first, next) = (queue.popFirst(), expected.removeFirst())
                #expect(first?.cancellation === next, "seed \(seed)")
            case 1 where !expected.isEmpty:
                let gone = expected.remove(at: random(expected.count))
                let (found, again) = (queue.remove(gone), queue.remove(gone))
                #expect(found?.cancellation === gone && again == nil, "seed \(seed)")
            default:
                let job = job()
                queue.append(job)
                expected.append(job.cancellation)
            }
            #expect(queue.count == expected.count)
        }
        for cancellation in expected {
            let next = queue.popFirst()
            #expect(next?.cancellation === cancellation, "seed \(seed)")
        }
        let none = queue.popFirst()
        #expect(none == nil)
    }

    @Test("Removing a hundred thousand jobs takes about linear time", .timeLimit(.minutes(10)))
    func burst() {
        var queue = JobQueue()
        let jobs = (0..<100_000).map { _ in job() }
        for job in jobs { queue.append(job) }
        // Removed from the middle, far from both ends: a linear search for each job would take minutes.
        for job in jobs[25_000..<75_000].reversed() { _ = queue.remove(job.cancellation) }
        for job in jobs[..<25_000] {
            let next = queue.popFirst()
            #expect(next?.cancellation === job.cancellation)
        }
        #expect(queue.count == 25_000)
    }
}
