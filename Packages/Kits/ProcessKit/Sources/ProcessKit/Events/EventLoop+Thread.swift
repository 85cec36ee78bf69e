import CProcessKit
import Glibc
import Synchronization

extension EventLoop {
    /// Starts the thread unless it runs already.
    func start() throws(ProcessError) {
        try state.withLock { (state) throws(ProcessError) in
            guard state.thread == nil, !state.isStopped else { return }
            if state.epoll < 0 { state.epoll = try Self.check(processkit_epoll_create()) }
            if state.wakeup < 0 { state.wakeup = try Self.check(processkit_eventfd()) }
            _ = try Self.check(processkit_epoll_arm(state.epoll, state.wakeup, false))
            state.thread = try startThread { [self] in run() }
        }
    }

    /// Ends the thread and waits for it; the owner calls this as it goes.
    func stop() {
        let thread = state.withLock { state in
            state.isStopped = true
            if state.thread != nil { Self.notify(state.wakeup) }
            defer { state.thread = nil }
            return state.thread
        }
        if let thread { pthread_join(thread, nil) }
        let (waiters, descriptors) = state.withLock { state in
            defer { (state.waiters, state.deadlines, state.epoll, state.wakeup) = ([:], [:], -1, -1) }
            return (state.waiters.values.flatMap(\.self), [state.epoll, state.wakeup])
        }
        for waiter in waiters { waiter.continuation.resume(returning: .closed) }
        for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
    }

    private func run() {
        var ready = [Int32](repeating: -1, count: 64)
        while true {
            let (epoll, timeout, isStopped) = state.withLock { ($0.epoll, $0.millisecondsToDeadline, $0.isStopped) }
            if isStopped { return }
            let count = unsafe processkit_epoll_wait(epoll, &ready, Int32(ready.count), timeout)
            // Interrupted by a signal: there is nothing to report, and the deadlines are looked at again.
            let found = ready.prefix(Int(max(count, 0)))
            let woken = state.withLock { $0.takeReady(found) + $0.takeExpired() }
            for (waiter, wake) in woken { waiter.continuation.resume(returning: wake) }
        }
    }

    private static func check(_ result: Int32) throws(ProcessError) -> Int32 {
        guard result >= 0 else { throw .system("watch child processes", errno: -result) }
        return result
    }
}

extension EventLoop.State {
    typealias Woken = [(waiter: EventLoop.Waiter, wake: EventLoop.Wake)]

    /// How long epoll may sleep: to the nearest deadline, or without end.
    fileprivate var millisecondsToDeadline: Int32 {
        guard let nearest = deadlines.values.map(\.time).min() else { return -1 }
        let left = max(nearest - .now, .zero) / .milliseconds(1)
        // Rounded up, so that it does not wake just before the deadline; an hour is soon enough to look again.
        return Int32(min(left.rounded(.up), 3_600_000))
    }

    fileprivate mutating func takeReady(_ descriptors: ArraySlice<Int32>) -> Woken {
        var woken: Woken = []
        for descriptor in descriptors {
            if descriptor == wakeup {
                var count: UInt64 = 0
                _ = unsafe read(wakeup, &count, MemoryLayout<UInt64>.size)
                _ = processkit_epoll_arm(epoll, wakeup, false)
            }
            for waiter in takeWaiters(of: descriptor) { woken.append((waiter, .ready)) }
        }
        return woken
    }

    fileprivate mutating func takeExpired() -> Woken {
        guard !deadlines.isEmpty else { return [] }
        let now = EventLoop.Instant.now
        var woken: Woken = []
        for (token, deadline) in deadlines where deadline.time <= now {
            if let waiter = takeWaiter(token, of: deadline.descriptor) { woken.append((waiter, .timedOut)) }
        }
        return woken
    }
}
