import CLoopKit
import Glibc
import Synchronization

/// What the thread of a loop and its descriptors share.
///
/// Two locks are never held in the other order: that of a registration first, this one second.
final class LoopCore: Sendable {
    struct State: ~Copyable {
        var running: Running?
        var isStopped = false
        var slots = SlotTable()
        var deadlines = DeadlineHeap()
        /// Until when the thread sleeps; `.min` while it does not, so that nobody wakes it for nothing.
        var sleepsUntil = Int64.min
        /// Parts of tasks that prefer the thread, in the order of their coming.
        var jobs: [UnownedJob] = []
        /// Whether there is a thread that will look at `jobs` once more.
        var takesJobs = false
    }

    /// The thread and what it sleeps on exist together or not at all.
    struct Running: ~Copyable {
        let epoll: Int32
        let wakeup: Int32
        let thread: OwnThread
    }

    /// Stands for the descriptor that wakes the thread; no slot has it.
    static let wakeupToken = UInt64.max

    let state = Mutex(State())
    private let origin = ContinuousClock.now

    /// An instant as the loop counts time; what is too far away becomes "never".
    func time(of instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = origin.duration(to: instant).components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min + 1 : .max }
        let (sum, isTooFar) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooFar ? .max : sum
    }

    var now: Int64 { time(of: .now) }

    /// Watches a descriptor from now on; `make` gets the token under which its events come.
    func add(_ descriptor: Int32, _ make: (UInt64) -> Registration) throws(LoopError) -> Registration {
        try start()
        return try state.withLock { (state) throws(LoopError) in
            guard let epoll = state.running?.epoll else {
                throw LoopError(.stopped, "cannot watch a descriptor: the event loop was stopped")
            }
            let token = state.slots.reserve()
            let registration = make(token)
            let result = loopkit_epoll_add(epoll, descriptor, token)
            guard result == 0 else {
                state.slots.release(token)
                throw Self.refusal(-result)
            }
            state.slots.fill(token, registration)
            return registration
        }
    }

    /// Ends the watch; events on their way find nobody. To be called before the descriptor is closed.
    func remove(_ descriptor: Int32, _ token: UInt64) {
        state.withLock { state in
            guard let epoll = state.running?.epoll else { return }
            _ = loopkit_epoll_remove(epoll, descriptor)
            state.slots.release(token)
        }
    }

    /// Has the registration looked at when `time` has come.
    func schedule(_ time: Int64, _ token: UInt64) {
        state.withLock { state in
            guard let wakeup = state.running?.wakeup else { return }
            state.deadlines.add(DeadlineHeap.Entry(time: time, token: token))
            if time < state.sleepsUntil {
                state.sleepsUntil = time
                Self.notify(wakeup)
            }
        }
    }

    static func notify(_ wakeup: Int32) {
        // Fails only when the counter is full, and then the thread is awake anyway.
        var one: UInt64 = 1
        _ = unsafe write(wakeup, &one, MemoryLayout<UInt64>.size)
    }

    private static func refusal(_ number: Int32) -> LoopError {
        switch number {
        case EPERM:
            LoopError(
                .notWatchable, "cannot wait for a regular file or a folder: it is always ready, so just use it",
                errno: number)
        case EEXIST:
            LoopError(.system, "cannot watch a descriptor: this loop watches it already", errno: number)
        default: .system("watch a descriptor", errno: number)
        }
    }
}
