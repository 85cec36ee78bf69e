import Capabilities
import LoopKit
import Synchronization

/// A few connections for many callers, served in order of arrival.
///
/// Work runs on separate threads, because it blocks. A thread starts when there is work for a free lane and ends when
/// there is none, so an idle database has no threads.
final class Pool: Sendable {
    private struct State {
        var waiting = JobQueue()
        var idle: [Lane] = []
        /// The number of working lanes, on threads of the pool and of callers.
        var busy = 0
        var working = 0
        var isClosed = false
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    private enum Step {
        case start(Lane)
        case wait
        case refuse(any Error)
    }

    /// The limit of waiting callers. More than that is a runaway caller.
    private static let limit = 10_000

    private let path: String
    private let width: Int
    private let notices: Notices
    private let open: @Sendable (Cancellation?) throws -> Connection
    private let state = Mutex(State())

    init(
        _ path: String, width: Int, notices: Notices, open: @escaping @Sendable (Cancellation?) throws -> Connection
    ) {
        self.path = path
        self.width = width
        self.notices = notices
        self.open = open
    }

    /// Runs the work on a thread of the pool. A cancelled task leaves the queue, or its statement is stopped.
    @discardableResult
    nonisolated(nonsending) func perform<Result: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> Result
    ) async throws -> Result {
        let cancellation = Cancellation()
        defer { notices.tell() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let job = Job(cancellation: cancellation) { [open] lane in
                    continuation.resume(with: Swift.Result { try lane.use(cancellation, open: open, body) })
                } refuse: { error in
                    continuation.resume(throwing: error)
                }
                submit(job)
            }
        } onCancel: {
            cancellation.want()
            withdraw(cancellation)
        }
    }

    /// Runs the work on the caller's thread, with a separate connection if all are in use.
    func performNow<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        let lane = try state.withLock { state throws(StorageError) in
            if state.isClosed { throw .closed(path) }
            state.busy += 1
            return state.idle.popLast() ?? Lane()
        }
        defer {
            settle(state.withLock { putBack(lane, in: &$0) })
            notices.tell()
        }
        return try lane.use(nil, open: open, body)
    }

    /// Rejects new work, waits for accepted work, and closes the connections.
    func close() async {
        await withCheckedContinuation { continuation in
            let isQuiet = state.withLock { state in
                state.isClosed = true
                if state.busy > 0 { state.closers.append(continuation) }
                return state.busy == 0
            }
            if isQuiet { continuation.resume() }
        }
        let lanes = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        // Closing moves the log into the file, which may take a while.
        do throws(LoopError) {
            try await onOwnThread { for lane in lanes { lane.close() } }
        } catch {
            for lane in lanes { lane.close() }
        }
    }
}

// MARK: For tests

extension Pool {
    var waitingCount: Int { state.withLock { $0.waiting.count } }
    var isClosed: Bool { state.withLock { $0.isClosed } }
}

// MARK: The queue

extension Pool {
    private func submit(_ job: Job) {
        let step = state.withLock { state -> Step in
            if job.cancellation.isWanted { return .refuse(CancellationError()) }
            if state.isClosed { return .refuse(StorageError.closed(path)) }
            if state.working < width {
                state.working += 1
                state.busy += 1
                return .start(state.idle.popLast() ?? Lane())
            }
            guard state.waiting.count < Self.limit else {
                let message =
                    "more than \(Self.limit) callers wait for \(PlainText.escape(path)); send fewer requests at once"
                return .refuse(StorageError(.busy, message))
            }
            state.waiting.append(job)
            return .wait
        }
        switch step {
        case .wait: break
        case .refuse(let error): job.refuse(error)
        case .start(let lane): start(job, in: lane)
        }
    }

    private func withdraw(_ cancellation: Cancellation) {
        let job = state.withLock { $0.waiting.remove(cancellation) }
        job?.refuse(CancellationError())
    }

    private func start(_ job: Job, in lane: Lane) {
        do throws(LoopError) {
            _ = try OwnThread { [self] in
                var next: Job? = job
                while let job = next {
                    job.run(lane)
                    next = nextJob(for: lane)
                }
            }
        } catch {
            // Waiting jobs are served by the working lanes. Without any lane they would wait for ever.
            job.refuse(error)
            while let job = nextJob(for: lane) { job.refuse(error) }
        }
    }

    /// The next job in the queue. Without one, the lane is returned in the same step. Otherwise a caller in between
    /// would open another connection, and a database in memory would be empty.
    private func nextJob(for lane: Lane) -> Job? {
        let (job, leavings) = state.withLock { state -> (Job?, Leavings) in
            if let job = state.waiting.popFirst() { return (job, Leavings()) }
            state.working -= 1
            return (nil, putBack(lane, in: &state))
        }
        settle(leavings)
        return job
    }

    /// Work to do after the lock is released.
    private struct Leavings {
        var spare: Lane?
        var closers: [CheckedContinuation<Void, Never>] = []
    }

    private func putBack(_ lane: Lane, in state: inout State) -> Leavings {
        var leavings = Leavings()
        state.busy -= 1
        if state.idle.count < width { state.idle.append(lane) } else { leavings.spare = lane }
        if state.busy == 0 { swap(&leavings.closers, &state.closers) }
        return leavings
    }

    private func settle(_ leavings: Leavings) {
        leavings.spare?.close()
        for closer in leavings.closers { closer.resume() }
    }
}

/// A place for one connection, opened when it is first needed.
///
/// Safe to pass between threads: only the holder of a lane uses it until it is returned, and the lock of the pool
/// orders the two.
final class Lane: @unchecked Sendable {
    private var connection: Connection?

    /// Runs work on the connection, with a way to stop it.
    func use<Result>(
        _ cancellation: Cancellation?, open: (Cancellation?) throws -> Connection,
        _ body: (Connection) throws -> Result
    ) throws -> Result {
        // Another program has replaced the file, so writes to the old file would be lost.
        if connection?.hasMoved == true { close() }
        let connection = try connection ?? open(cancellation)
        self.connection = connection
        connection.watch.cancellation = cancellation
        defer {
            connection.watch.cancellation = nil
            // A connection that could not roll back has closed itself. The next work gets a new one.
            if connection.isClosed { self.connection = nil }
        }
        return try body(connection)
    }

    func close() {
        connection?.close()
        connection = nil
    }
}

/// One piece of work that waits for a connection, and the caller that waits for the work.
struct Job: Sendable {
    /// Also the identity of the job: no two jobs share one.
    let cancellation: Cancellation
    /// Runs the work in a lane and resumes the caller.
    let run: @Sendable (Lane) -> Void
    /// Resumes the caller with an error instead.
    let refuse: @Sendable (any Error) -> Void
}

/// Jobs in order of arrival. Any job can be removed. Each step takes the same time for any number of jobs.
struct JobQueue {
    private var jobs: [ObjectIdentifier: (ticket: UInt64, job: Job)] = [:]
    /// Includes removed jobs, which their tickets identify.
    private var order: [(key: ObjectIdentifier, ticket: UInt64)] = []
    /// The number of removed entries at the front. They are dropped in batches, because dropping each one would move
    /// all others.
    private var gone = 0
    private var lastTicket: UInt64 = 0

    var count: Int { jobs.count }

    mutating func append(_ job: Job) {
        lastTicket += 1
        let key = ObjectIdentifier(job.cancellation)
        jobs[key] = (lastTicket, job)
        order.append((key, lastTicket))
    }

    mutating func popFirst() -> Job? {
        defer { tidy() }
        while gone < order.count {
            let (key, ticket) = order[gone]
            gone += 1
            if jobs[key]?.ticket == ticket { return jobs.removeValue(forKey: key)?.job }
        }
        return nil
    }

    mutating func remove(_ cancellation: Cancellation) -> Job? {
        defer { tidy() }
        return jobs.removeValue(forKey: ObjectIdentifier(cancellation))?.job
    }

    private mutating func tidy() {
        guard order.count > 2 * jobs.count + 16 else { return }
        order = order[gone...].filter { jobs[$0.key]?.ticket == $0.ticket }
        gone = 0
    }
}

/// Notices from the threads of a database, until the caller resumes, because only its task knows where to report them.
final class Notices: Sendable {
    private let waiting = Mutex<[StorageNotice]>([])
    private let receive: @Sendable (StorageNotice) -> Void

    init(_ receive: @escaping @Sendable (StorageNotice) -> Void) {
        self.receive = receive
    }

    func add(_ notice: StorageNotice) {
        waiting.withLock { $0.append(notice) }
    }

    /// Reports the notices in the task and on the thread of the caller.
    func tell() {
        let notices = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for notice in notices { receive(notice) }
    }
}
