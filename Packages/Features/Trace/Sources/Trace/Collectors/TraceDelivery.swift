import Capabilities
import FileKit
import HTTPClient
import HTTPCore
import Registry
import Synchronization
import TraceExport
import TraceStore

/// Sends spans to the collector: those of this process and what waits of others, while it runs and at its end.
///
/// The database is the queue. One process sends at a time; what it does not reach is sent by the next one that records something.
/// How long nothing is sent after a failure is in the database too, so that not every command waits for a collector that is
/// away.
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

    private let choice: Result<Collector?, TraceExportError>
    private let store: TraceStore
    private let folder: String
    private let surroundings: Surroundings
    private let client: CollectorClient
    private let state = Mutex(State())

    /// How long spans wait for others to be sent with them.
    private static let pause = Duration.seconds(5)
    /// How long another process is waited for that sends at the moment.
    private static let patience = Duration.milliseconds(250)
    /// How long a process takes longer at its end at most.
    private static let farewell = Duration.seconds(2)
    /// The spans that are read at once.
    private static let page = 2_048

    init(
        to choice: Result<Collector?, TraceExportError>, of store: TraceStore, in folder: String,
        _ surroundings: Surroundings, _ whole: WholeRegistry
    ) {
        (self.choice, self.store, self.folder) = (choice, store, folder)
        self.surroundings = surroundings
        client = CollectorClient(surroundings, whole)
    }

    /// The address of the collector; nil without a usable one.
    var address: String? {
        if case .success(let collector?) = choice { collector.address } else { nil }
    }

    /// The collector.
    ///
    /// - Throws: a `TraceExportError` if there is none, or it cannot be used.
    func collector() throws(TraceExportError) -> Collector {
        guard let collector = try choice.get() else {
            throw TraceExportError(
                .noCollector,
                "no collector is set up for traces; 'martlet config set trace.endpoint http://localhost:4318' sets one up"
            )
        }
        return collector
    }

    // MARK: While the process runs

    /// Takes note that something was written.
    func wake() {
        guard address != nil else { return }
        state.withLock { state in
            guard !state.isClosed else { return }
            state.isPending = true
            guard state.task == nil else { return }
            // `close` cancels and awaits it. It has nothing of the caller in whose task it began.
            state.task = Task.detached { [self] in await sendWhileNeeded() }
        }
    }

    private func sendWhileNeeded() async {
        var wait = Self.pause
        while true {
            do { try await surroundings.clock.sleep(for: wait) } catch { return }
            // It is awaited here. `close` cancels it if it takes too long.
            let sending = Task { await sendOnce() }
            state.withLock { $0.sending = sending }
            wait = await sending.value ?? Self.pause
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
            let wait = try await Self.asOwner { try await deliver() }
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

    /// The person has set the collector up, so that what is sent to it by itself is sent with their rights, without anybody to
    /// ask and without a trace.
    private static func asOwner<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        try await Tracer.muted {
            try await ActionContext.$current.withValue(nil) {
                try await Caller.$current.withValue(.person(HeadlessInteraction())) { try await work() }
            }
        }
    }

    /// - Returns: how long it is of no use to try again; nil if all was sent.
    private func deliver() async throws -> Duration? {
        let collector = try collector()
        let lock: FileLock
        do throws(any Error) { lock = try await acquire(within: Self.patience) } catch let error as FileError
            where error.kind == .busy
        {
            // Another process sends, and takes ours with it if they are there in time.
            return Self.pause
        }
        try await store.takeSpools()
        let before = try await store.state(ofCollector: collector.address)
        let now = surroundings.now()
        // A time that is farther away than any that is ever set is one of another clock.
        if let next = before.next, next > now, next - now <= Self.longestWait { return next - now }
        var wait: Duration?
        do {
            try await sendWaiting(.none) { _, _ in }
        } catch let error where error is TraceExportError || error is HTTPError {
            let asked = (error as? TraceExportError)?.retryAfter
            let pause = Self.wait(asked, attempts: before.attempts)
            try await postpone(pause, AnyFailure(error).message)
            wait = pause
        }
        lock.release()
        return wait
    }

    private func acquire(within limit: Duration) async throws -> FileLock {
        try Files.makeDirectories(folder)
        return try await FileLock.acquire("\(folder)/send.lock", within: limit)
    }

    private func postpone(_ wait: Duration, _ reason: String) async throws {
        let address = try collector().address
        try await store.postpone(collector: address, until: surroundings.now() + wait, because: reason)
    }

    private static let longestWait = Duration.seconds(3_600)

    /// Twice as long each time, up to five minutes, and not the same for all processes; or as long as the collector asks.
    private static func wait(_ asked: Duration?, attempts: Int) -> Duration {
        if let asked { return min(max(asked, .seconds(1)), longestWait) }
        let wait = min(pause * (1 << min(attempts, 10)), .seconds(300))
        return wait * Double.random(in: 0.8...1.2)
    }

    // MARK: Sending

    /// Sends what waits for the collector.
    private func sendWaiting(
        _ retries: RetryPolicy, _ done: ([StoredSpan], ExportOutcome) async throws -> Void
    ) async throws {
        let address = try collector().address
        while true {
            let spans = try await store.waiting(forCollector: address, limit: Self.page)
            if spans.isEmpty { return }
            try await send(spans, retries, done)
        }
    }

    private func send(
        _ spans: [StoredSpan], _ retries: RetryPolicy, _ done: ([StoredSpan], ExportOutcome) async throws -> Void
    ) async throws {
        let exporter = try await client.exporter(for: try collector())
        var isRefused = false
        try await exporter.send(spans, retries: retries) { [store] spans, outcome in
            try await store.hasGot(
                spans, collector: exporter.collector.address, refused: outcome.refused, because: outcome.message)
            if outcome.refused > 0 { isRefused = true }
            try await done(spans, outcome)
        }
        // The secret may be another one by now.
        if isRefused { client.renew() }
    }

    // MARK: By hand

    /// Sends what an action asks for, with the rights of its caller.
    ///
    /// - Parameters:
    ///   - query: which traces; nil for what waits.
    ///   - done: is told what became of each part.
    func send(_ query: TraceQuery?, done: (ExportOutcome) async throws -> Void) async throws {
        _ = try collector()
        try await Tracer.muted {
            let lock = try await acquire(within: .seconds(10))
            try await store.takeSpools()
            let retries = RetryPolicy(attempts: 5)
            if let query {
                var page: [StoredSpan] = []
                try await store.forEachSpan(query) { span in
                    page.append(span)
                    guard page.count == Self.page else { return }
                    try await send(page, retries) { try await done($1) }
                    page = []
                }
                try await send(page, retries) { try await done($1) }
            } else {
                try await sendWaiting(retries) { try await done($1) }
            }
            lock.release()
        }
    }

    // MARK: Problems

    /// The problems with sending, as sentences.
    ///
    /// - Parameter time: refusals before this are not told.
    func problems(since time: Timestamp?) async throws -> [String] {
        guard case .success(let found) = choice, let collector = found else {
            if case .failure(let error) = choice { return ["traces are not sent: \(error.message)"] }
            return []
        }
        var problems: [String] = []
        if let problem = state.withLock({ $0.problem }) {
            problems.append("traces could not be sent: \(AnyFailure(problem).message)")
        }
        let state = try await store.state(ofCollector: collector.address)
        if let problem = state.problem, state.waiting > 0 {
            problems.append("\(state.waiting) spans wait to be sent: \(problem)")
        }
        if let refusal = state.refusal, refusal.time >= time ?? surroundings.now() + .seconds(-86_400) {
            problems.append("\(state.refused) spans were refused so far; the last time, \(refusal.reason)")
        }
        if state.expired > 0 {
            problems.append("\(state.expired) spans were removed before they could be sent (trace.keep, trace.budget)")
        }
        return problems
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
        await client.close()
    }

    private func finish(_ task: Task<Void, Never>?) async {
        do {
            let isInTime: Void? = try await withTimeLimit(Self.farewell, on: surroundings.clock) { [self] in
                await withTaskCancellationHandler {
                    await task?.value
                } onCancel: {
                    state.withLock { $0.sending }?.cancel()
                }
                if state.withLock({ $0.isPending }) { _ = await sendOnce() }
            }
            // The next command would wait as long otherwise.
            if isInTime == nil { try await postpone(Self.pause * 2, "it did not answer in time when a command ended") }
        } catch {
            // Nobody is there to be told; what waits is in the queue.
        }
    }
}
