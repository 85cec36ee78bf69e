import Capabilities
import FileKit
import HTTPClient
import Registry
import Synchronization
import TraceExport
import TraceKit
import TraceStore

/// Sends spans and entries of the log to the collector: those of this process and what waits of others, while it runs and at its
/// end.
///
/// The database is the queue. One process sends at a time; what it does not reach is sent by the next one that records something.
final class TraceDelivery: Sendable {
    private struct State {
        /// Whether something was written that may not have been sent.
        var isPending = false
        var isClosed = false
        /// Sends while there is something to send.
        var task: Task<Void, Never>?
        /// What it sends at the moment. Cancelling the task does not end that, so that nothing is sent twice without need.
        var sending: Task<Duration?, Never>?
        /// Why the queue could not be read or written the last time.
        var problem: (any Error)?
    }

    let spans: CollectorLink<StoredSpan>
    let logs: CollectorLink<StoredLog>
    private let store: TraceStore
    private let folder: String
    private let surroundings: Surroundings
    private let state = Mutex(State())

    /// How long another process is waited for that sends at the moment.
    private static let patience = Duration.milliseconds(250)

    init(
        _ spans: CollectorLink<StoredSpan>, _ logs: CollectorLink<StoredLog>, of store: TraceStore, in folder: String,
        _ surroundings: Surroundings
    ) {
        (self.spans, self.logs, self.store, self.folder) = (spans, logs, store, folder)
        self.surroundings = surroundings
    }

    /// Who gets what this process records.
    var addresses: CollectorAddresses { CollectorAddresses(spans: spans.address, logs: logs.address) }

    // MARK: While the process runs

    /// Takes note that something was written.
    func wake() {
        guard addresses != CollectorAddresses() else { return }
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isPending = true
            guard state.task == nil else { return }
            // `close` cancels and awaits it. It has nothing of the caller in whose task it began.
            state.task = Task.detached { [self] in await sendWhileNeeded() }
        }
    }

    private func sendWhileNeeded() async {
        var wait = CollectorPause.usual
        while true {
            do { try await surroundings.clock.sleep(for: wait) } catch { return }
            // It is awaited here. `close` cancels it if it takes too long.
            let sending = Task { await sendOnce() }
            state.withLock { $0.sending = sending }
            wait = await sending.value ?? CollectorPause.usual
            let isDone = state.withLock { state in
                if !state.isPending { state.task = nil }
                return !state.isPending
            }
            if isDone || Task.isCancelled { return }
        }
    }

    /// Sends what waits.
    ///
    /// - Returns: how long it is of no use to try again; nil if all was sent.
    private func sendOnce() async -> Duration? {
        state.withLock { $0.isPending = false }
        do {
            let wait = try await asOwnerOfCollector { try await deliver() }
            state.withLock { state in
                state.problem = nil
                if wait != nil { state.isPending = true }
            }
            return wait
        } catch {
            // `problems` tells those who read traces.
            state.withLock { state in
                state.problem = error is CancellationError ? nil : error
                state.isPending = true
            }
            return .seconds(60)
        }
    }

    /// - Returns: how long it is of no use to try again; nil if all was sent.
    private func deliver() async throws -> Duration? {
        let lock: FileLock
        do throws(any Error) { lock = try await acquire(within: Self.patience) } catch let error as FileError
            where error.kind == .busy
        {
            // Another process sends, and takes ours with it if they are there in time.
            return CollectorPause.usual
        }
        try await store.takeSpools()
        // At once, so that a collector that hangs does not hold up the other one.
        async let first = spans.deliver()
        async let second = logs.deliver()
        let waits = try await [first, second].compactMap(\.self)
        lock.release()
        return waits.min()
    }

    private func acquire(within limit: Duration) async throws -> FileLock {
        try Files.makeDirectories(folder)
        return try await FileLock.acquire("\(folder)/send.lock", within: limit)
    }

    // MARK: By hand

    /// Sends what an action asks for, with the rights of its caller.
    ///
    /// - Parameters:
    ///   - query: which traces; nil for what waits, entries of the log too.
    ///   - done: is told what became of each part.
    func send(_ query: TraceQuery?, done: (OTLPSignal, ExportOutcome) async throws -> Void) async throws {
        _ = try spans.collector()
        try await Tracer.muted {
            let lock = try await acquire(within: .seconds(10))
            try await store.takeSpools()
            let retries = RetryPolicy(attempts: 5)
            if let query {
                var page: [StoredSpan] = []
                try await store.forEachSpan(query) { span in
                    page.append(span)
                    guard page.count == CollectorLink<StoredSpan>.page else { return }
                    try await spans.sendQueued(page, retries) { try await done(.traces, $0) }
                    page = []
                }
                try await spans.sendQueued(page, retries) { try await done(.traces, $0) }
            } else {
                try await spans.sendWaiting(retries) { try await done(.traces, $0) }
                if logs.address != nil { try await logs.sendWaiting(retries) { try await done(.logs, $0) } }
            }
            lock.release()
        }
    }

    // MARK: Problems

    /// The problems with sending, as sentences.
    ///
    /// - Parameter time: refusals before this are not told.
    func problems(since time: Timestamp?) async throws -> [String] {
        var problems: [String] = []
        if let problem = state.withLock({ $0.problem }) {
            problems.append("traces could not be sent: \(AnyFailure(problem).message)")
        }
        return try await problems + spans.problems(since: time) + logs.problems(since: time)
    }

    // MARK: The end

    /// Sends what is left, for a short time. The rest is sent by another process.
    func close() async {
        let task = state.withLock { state in
            state.isClosed = true
            return state.task
        }
        task?.cancel()
        await finish(task)
        await spans.close()
        await logs.close()
    }

    private func finish(_ task: Task<Void, Never>?) async {
        do {
            let isInTime: Void? = try await withTimeLimit(CollectorPause.farewell, on: surroundings.clock) { [self] in
                await withTaskCancellationHandler {
                    await task?.value
                } onCancel: {
                    state.withLock { $0.sending }?.cancel()
                }
                if state.withLock({ $0.isPending }) { _ = await sendOnce() }
            }
            // The next command would wait as long otherwise.
            if isInTime == nil { try await postpone() }
        } catch {
            // Nobody is there to be told; what waits is in the queue.
        }
    }

    /// Has those collectors left alone for a while for which something waits.
    private func postpone() async throws {
        let (pause, reason) = (CollectorPause.usual * 2, "it did not answer in time when a command ended")
        if try await spans.isWaitedFor { try await spans.postpone(pause, reason) }
        if try await logs.isWaitedFor { try await logs.postpone(pause, reason) }
    }
}
