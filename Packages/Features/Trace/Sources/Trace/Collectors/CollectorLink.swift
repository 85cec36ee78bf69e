import Capabilities
import HTTPClient
import HTTPCore
import Registry
import TraceExport
import TraceKit
import TraceStore

/// The way of a signal to its collector: who that is, when it may be tried again, and what went wrong.
///
/// How long nothing is sent after a failure is in the database, so that not every command waits for a collector that is away.
final class CollectorLink<Item: ExportItem>: Sendable {
    let store: TraceStore
    private let choice: Result<Collector?, TraceExportError>
    private let surroundings: Surroundings
    private let client: CollectorClient<Item>

    init(
        _ settings: CollectorSettings, _ variables: CollectorVariables, _ store: TraceStore,
        _ surroundings: Surroundings, _ whole: WholeRegistry
    ) {
        choice = settings.choice(for: Item.signal, variables, in: surroundings.locations)
        (self.store, self.surroundings) = (store, surroundings)
        client = CollectorClient(surroundings, whole)
    }

    /// The address of the collector; nil without a usable one.
    var address: String? {
        if case .success(let collector?) = choice { collector.address } else { nil }
    }

    /// Why the collector that is set up cannot be used, if so.
    var unusable: TraceExportError? {
        if case .failure(let error) = choice { error } else { nil }
    }

    /// The collector.
    ///
    /// - Throws: a `TraceExportError` if there is none, or it cannot be used.
    func collector() throws(TraceExportError) -> Collector {
        guard let collector = try choice.get() else {
            throw TraceExportError(
                .noCollector,
                "no collector is set up for \(Item.signal.words); 'martlet config set trace.endpoint http://localhost:4318' sets one up"
            )
        }
        return collector
    }

    // MARK: Sending

    /// Sends by itself, unless the collector is known to be away.
    ///
    /// - Returns: how long it is of no use to try again; nil if all was sent.
    func attempt(_ send: () async throws -> Void) async throws -> Duration? {
        let before = try await store.state(of: Item.signal, forCollector: try collector().address)
        let now = surroundings.now()
        // A time that is farther away than any that is ever set is one of another clock.
        if let next = before.next, next > now, next - now <= Self.longestWait { return next - now }
        do { try await send() } catch let error where error is TraceExportError || error is HTTPError {
            let pause = Self.wait((error as? TraceExportError)?.retryAfter, attempts: before.attempts)
            try await postpone(pause, AnyFailure(error).message)
            return pause
        }
        return nil
    }

    /// Sends items.
    ///
    /// - Parameter done: gets the items of each request that was answered for good, with what became of them.
    func send(
        _ items: [Item], _ retries: RetryPolicy = .none, _ done: ([Item], ExportOutcome) async throws -> Void
    ) async throws {
        let exporter = try await client.exporter(for: try collector())
        var isRefused = false
        try await exporter.send(items, retries: retries) { items, outcome in
            if outcome.refused > 0 { isRefused = true }
            try await done(items, outcome)
        }
        // The secret may be another one by now.
        if isRefused { client.renew() }
    }

    /// Has nothing sent for a while.
    func postpone(_ wait: Duration, _ reason: String) async throws {
        let address = try collector().address
        try await store.postpone(
            Item.signal, collector: address, until: surroundings.now() + wait, because: reason)
    }

    private static var longestWait: Duration { .seconds(3_600) }

    /// Twice as long each time, up to five minutes, and not the same for all processes; or as long as the collector asks.
    private static func wait(_ asked: Duration?, attempts: Int) -> Duration {
        if let asked { return min(max(asked, .seconds(1)), longestWait) }
        let wait = min(CollectorPause.usual * (1 << min(attempts, 10)), .seconds(300))
        return wait * Double.random(in: 0.8...1.2)
    }

    /// The problems with sending, as sentences.
    ///
    /// - Parameter time: refusals before this are not told.
    func problems(since time: Timestamp?) async throws -> [String] {
        guard let address else { return [] }
        var problems: [String] = []
        let state = try await store.state(of: Item.signal, forCollector: address)
        let yesterday = surroundings.now() + .seconds(-86_400)
        if let problem = state.problem {
            if state.waiting > 0 {
                problems.append("\(state.waiting) \(Item.signal.things) wait to be sent: \(problem)")
            } else if Item.signal == .metrics, let next = state.next, next > yesterday {
                problems.append("metrics could not be sent the last time: \(problem)")
            }
        }
        if let refusal = state.refusal, refusal.time >= time ?? yesterday {
            problems.append(
                "\(state.refused) \(Item.signal.things) were refused so far; the last time, \(refusal.reason)")
        }
        if state.expired > 0 {
            problems.append(
                "\(state.expired) \(Item.signal.things) were removed before they could be sent (trace.keep, trace.budget)"
            )
        }
        return problems
    }

    func close() async { await client.close() }
}

extension CollectorLink where Item: QueuedItem {
    /// The items that are read at once.
    static var page: Int { 2_048 }

    /// Sends what waits for the collector.
    func sendWaiting(_ retries: RetryPolicy = .none, _ done: (ExportOutcome) async throws -> Void) async throws {
        let address = try collector().address
        while true {
            let items = try await store.waiting(Item.self, forCollector: address, limit: Self.page)
            if items.isEmpty { return }
            try await sendQueued(items, retries, done)
        }
    }

    /// Sends items, which wait no longer then.
    func sendQueued(
        _ items: [Item], _ retries: RetryPolicy, _ done: (ExportOutcome) async throws -> Void
    ) async throws {
        let address = try collector().address
        try await send(items, retries) { items, outcome in
            try await store.hasGot(items, collector: address, refused: outcome.refused, because: outcome.message)
            try await done(outcome)
        }
    }

    /// Whether something waits for the collector.
    var isWaitedFor: Bool {
        get async throws {
            guard let address else { return false }
            return try await store.state(of: Item.signal, forCollector: address).waiting > 0
        }
    }

    /// Sends what waits by itself; nothing without a collector.
    ///
    /// - Returns: how long it is of no use to try again; nil if all was sent.
    func deliver() async throws -> Duration? {
        guard address != nil else { return nil }
        return try await attempt { try await sendWaiting { _ in } }
    }
}

/// How long sending waits.
enum CollectorPause {
    /// How long spans and entries wait for others to be sent with them, and after the first failure.
    static let usual = Duration.seconds(5)
    /// How long a process takes longer at its end at most.
    static let farewell = Duration.seconds(2)
}

/// The person has set the collector up, so that what is sent to it by itself is sent with their rights, without anybody to ask
/// and without a trace.
func asOwnerOfCollector<Value>(_ work: () async throws -> Value) async rethrows -> Value {
    try await Tracer.muted {
        try await ActionContext.$current.withValue(nil) {
            try await Caller.$current.withValue(.person(HeadlessInteraction())) { try await work() }
        }
    }
}
