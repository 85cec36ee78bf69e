import CLoopKit
import Glibc
import Synchronization

extension LoopCore {
    func start() throws(LoopError) {
        try state.withLock { (state) throws(LoopError) in
            guard state.running == nil, !state.isStopped else { return }
            state.running = try makeRunning()
            state.takesJobs = true
        }
    }

    func stop() {
        let running = state.withLock { state in
            state.isStopped = true
            state.takesJobs = false
            if let wakeup = state.running?.wakeup { Self.notify(wakeup) }
            return state.running.take()
        }
        guard let running = consume running else { return }
        let (epoll, wakeup) = (running.epoll, running.wakeup)
        running.end()
        detachAll()
        close(epoll)
        close(wakeup)
    }

    private func makeRunning() throws(LoopError) -> Running {
        let epoll = loopkit_epoll_create()
        guard epoll >= 0 else { throw .system("make an event loop", errno: -epoll) }
        let wakeup = loopkit_eventfd()
        guard wakeup >= 0 else {
            close(epoll)
            throw .system("make an event loop", errno: -wakeup)
        }
        do throws(LoopError) {
            let result = loopkit_epoll_add_level(epoll, wakeup, Self.wakeupToken)
            guard result == 0 else { throw .system("make an event loop", errno: -result) }
            return Running(epoll: epoll, wakeup: wakeup, thread: try OwnThread { [self] in run(epoll, wakeup) })
        } catch {
            close(epoll)
            close(wakeup)
            throw error
        }
    }

    private func detachAll() {
        for registration in state.withLock({ $0.slots.takeAll() }) { registration.detach() }
    }

    private func run(_ epoll: Int32, _ wakeup: Int32) {
        defer { handOverJobs() }
        var events = [loopkit_event](repeating: loopkit_event(), count: 256)
        var found: [(registration: Registration, ready: UInt32)] = []
        var jobs: [UnownedJob] = []
        var expired: [(registration: Registration, time: Int64)] = []
        while let timeout = prepareToSleep() {
            let count = unsafe loopkit_epoll_wait(epoll, &events, Int32(events.count), timeout)
            // Interrupted: there is nothing to report, and the deadlines are looked at again.
            guard count >= 0 || count == -EINTR else { return detachAll() }
            let now = now
            state.withLock { state in
                state.sleepsUntil = .min
                for event in events.prefix(Int(max(count, 0))) {
                    if event.token == Self.wakeupToken {
                        Self.drain(wakeup)
                    } else if let registration = state.slots[event.token] {
                        found.append((registration, event.ready))
                    }
                }
                while let entry = state.deadlines.takeFirst(until: now) {
                    if let registration = state.slots[entry.token] { expired.append((registration, entry.time)) }
                }
            }
            for (registration, ready) in found { registration.receive(ready) }
            for (registration, time) in expired { registration.expire(scheduled: time, now: now) }
            found.removeAll(keepingCapacity: true)
            expired.removeAll(keepingCapacity: true)
            runJobs(&jobs)
        }
    }

    /// How long epoll may sleep: to the nearest deadline, or -1 for without end; nil when the loop was stopped.
    private func prepareToSleep() -> Int32? {
        let now = now
        return state.withLock { state in
            guard !state.isStopped else { return nil }
            guard state.jobs.isEmpty else { return 0 }
            guard let nearest = state.deadlines.nearest else {
                state.sleepsUntil = .max
                return -1
            }
            state.sleepsUntil = nearest
            // Rounded up, so that it does not wake just before the deadline; an hour is soon enough to look again.
            let left = max(nearest.subtractingReportingOverflow(now).partialValue, 0)
            return Int32(min(left / 1_000_000 + (left % 1_000_000 == 0 ? 0 : 1), 3_600_000))
        }
    }

    private static func drain(_ wakeup: Int32) {
        var count: UInt64 = 0
        _ = unsafe read(wakeup, &count, MemoryLayout<UInt64>.size)
    }
}

extension LoopCore.Running {
    fileprivate consuming func end() {
        thread.join()
    }
}
