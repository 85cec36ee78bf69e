import Synchronization

/// A loop can run tasks besides waiting for them: whom an event wakes then goes on where the event was seen, which
/// saves a change of threads for each.
extension LoopCore: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = state.withLock { state in
            guard state.takesJobs, let wakeup = state.running?.wakeup else { return false }
            state.jobs.append(job)
            if state.sleepsUntil != .min {
                state.sleepsUntil = .min
                Self.notify(wakeup)
            }
            return true
        }
        if !isTaken { globalConcurrentExecutor.enqueue(job) }
    }

    /// Runs what is there, and what comes of it, but looks at the descriptors now and then. The room is only lent.
    func runJobs(_ room: inout [UnownedJob]) {
        for _ in 0..<8 {
            state.withLock { swap(&$0.jobs, &room) }
            if room.isEmpty { return }
            for job in room { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            room.removeAll(keepingCapacity: true)
        }
    }

    /// At the end of the thread: what is left goes on with all other tasks.
    func handOverJobs() {
        let jobs = state.withLock { state in
            state.takesJobs = false
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in jobs { globalConcurrentExecutor.enqueue(job) }
    }
}
