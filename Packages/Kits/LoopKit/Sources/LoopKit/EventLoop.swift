import CLoopKit
import Glibc
import Synchronization

/// A thread that waits in epoll for all its descriptors, and wakes the tasks that wait for one.
///
/// It only reports that a descriptor is ready. The tasks read and write themselves, so nothing is read before a task
/// requests it. The thread starts with the first descriptor. It ends with `stop` or with the last reference: that of
/// the owner, and one for each `LoopDescriptor`.
public final class EventLoop: Sendable {
    let core = LoopCore()

    /// A loop without a thread.
    public init() {}

    deinit { stop() }

    /// Runs tasks on the thread of the loop, so that a task that waits for a descriptor continues without a change of
    /// threads. Such tasks must neither block nor compute for long, because all descriptors wait meanwhile.
    ///
    /// While the thread is not running, the tasks run on the shared threads.
    public var executor: any TaskExecutor { core }

    /// Starts the thread unless it is running. Creating a `LoopDescriptor` also starts it.
    public func start() throws(LoopError) {
        try core.start()
    }

    /// Stops the thread and waits for it. Every wait ends as if its descriptor were closed. The descriptors stay open
    /// until their owners close them.
    public func stop() {
        core.stop()
    }
}

/// The state shared by the thread of a loop and its descriptors.
///
/// Lock order: the lock of a registration first, this one second.
final class LoopCore: Sendable {
    struct State: ~Copyable {
        var running: Running?
        var isStopped = false
        var slots = SlotTable()
        var deadlines = DeadlineHeap()
        /// The time until which the thread sleeps. `.min` while it is awake, so that it is not woken needlessly.
        var sleepsUntil = Int64.min
        /// Jobs of tasks that prefer the thread, in order of arrival.
        var jobs: [UnownedJob] = []
        /// Whether a thread will check `jobs` once more.
        var takesJobs = false
    }

    /// The thread and what it sleeps on exist together or not at all.
    struct Running: ~Copyable {
        let epoll: Int32
        let wakeup: Int32
        let thread: OwnThread
    }

    /// The token of the wakeup descriptor. No slot has it.
    static let wakeupToken = UInt64.max

    private let state = Mutex(State())
    private let origin = ContinuousClock.now

    /// An instant in the loop's time. An instant too far away becomes "never".
    func time(of instant: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = origin.duration(to: instant).components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min + 1 : .max }
        let (sum, isTooFar) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        return isTooFar ? .max : sum
    }

    var now: Int64 { time(of: .now) }

    /// Starts watching a descriptor. `make` gets the token of its events.
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

    /// Stops watching. Pending events are dropped. Call it before closing the descriptor.
    func remove(_ descriptor: Int32, _ token: UInt64) {
        state.withLock { state in
            guard let epoll = state.running?.epoll else { return }
            _ = loopkit_epoll_remove(epoll, descriptor)
            state.slots.release(token)
        }
    }

    /// Checks the registration when `time` has come.
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
                .notWatchable, "cannot wait for a regular file or a folder: it is always ready; use it directly",
                errno: number)
        case EEXIST:
            LoopError(.system, "cannot watch a descriptor: this loop already watches it", errno: number)
        default: .system("watch a descriptor", errno: number)
        }
    }
}

/// A loop also runs tasks: a task that an event wakes continues on the same thread, which saves a change of threads.
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

    /// Runs the queued jobs and those they add, but checks the descriptors now and then. `room` is reused between
    /// calls.
    func runJobs(_ room: inout [UnownedJob]) {
        for _ in 0..<8 {
            state.withLock { swap(&$0.jobs, &room) }
            if room.isEmpty { return }
            for job in room { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            room.removeAll(keepingCapacity: true)
        }
    }

    /// At the end of the thread, hands the remaining jobs to the shared threads.
    func handOverJobs() {
        let jobs = state.withLock { state in
            state.takesJobs = false
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in jobs { globalConcurrentExecutor.enqueue(job) }
    }
}

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
        guard epoll >= 0 else { throw .system("create an event loop", errno: -epoll) }
        let wakeup = loopkit_eventfd()
        guard wakeup >= 0 else {
            close(epoll)
            throw .system("create an event loop", errno: -wakeup)
        }
        do throws(LoopError) {
            let result = loopkit_epoll_add_level(epoll, wakeup, Self.wakeupToken)
            guard result == 0 else { throw .system("create an event loop", errno: -result) }
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

    /// The time that epoll may sleep: up to the nearest deadline, or -1 for no limit. Nil when the loop was stopped.
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

/// The registrations of a loop. Each has a unique token.
///
/// A token is the number of a slot and its use count. A late event for a closed descriptor therefore finds nothing,
/// although the descriptor and the slot may have new owners.
struct SlotTable {
    private struct Slot {
        var registration: Registration?
        var generation: UInt32 = 0
    }

    private var slots: [Slot] = []
    private var free: [UInt32] = []

    subscript(token: UInt64) -> Registration? {
        let index = Int(UInt32(truncatingIfNeeded: token))
        guard index < slots.count, slots[index].generation == token >> 32 else { return nil }
        return slots[index].registration
    }

    mutating func reserve() -> UInt64 {
        if let index = free.popLast() { return UInt64(slots[Int(index)].generation) << 32 | UInt64(index) }
        slots.append(Slot())
        return UInt64(slots.count - 1)
    }

    mutating func fill(_ token: UInt64, _ registration: Registration) {
        slots[Int(UInt32(truncatingIfNeeded: token))].registration = registration
    }

    mutating func release(_ token: UInt64) {
        let index = UInt32(truncatingIfNeeded: token)
        guard Int(index) < slots.count, slots[Int(index)].generation == token >> 32 else { return }
        slots[Int(index)].registration = nil
        slots[Int(index)].generation &+= 1
        free.append(index)
    }

    mutating func takeAll() -> [Registration] {
        defer { (slots, free) = ([], []) }
        return slots.compactMap(\.registration)
    }
}

/// Deadlines by their time: adding one and taking the nearest cost the logarithm of their number.
///
/// Nothing is removed early: the owner keeps at most one deadline here for each descriptor, and checks again when it is
/// due.
struct DeadlineHeap {
    struct Entry {
        /// Nanoseconds on the clock of the loop.
        let time: Int64
        let token: UInt64
    }

    private var entries: [Entry] = []

    var nearest: Int64? { entries.first?.time }

    mutating func add(_ entry: Entry) {
        entries.append(entry)
        var index = entries.count - 1
        while index > 0 {
            let parent = (index - 1) / 2
            guard entries[index].time < entries[parent].time else { return }
            entries.swapAt(index, parent)
            index = parent
        }
    }

    /// The nearest deadline, when it is not after `now`.
    mutating func takeFirst(until now: Int64) -> Entry? {
        guard let first = entries.first, first.time <= now else { return nil }
        let last = entries.removeLast()
        guard !entries.isEmpty else { return first }
        entries[0] = last
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < entries.count {
                if entries[child].time < entries[least].time { least = child }
            }
            guard least != index else { return first }
            entries.swapAt(index, least)
            index = least
        }
    }
}
