import Capabilities
import HTTPClient
import JSON
import Registry
import Synchronization
import TraceExport
import TraceKit
import TraceStore

/// Sends the metrics of this process to the collector while it runs, and once more at its end. What does not arrive is not kept:
/// the totals of the next time have it in them.
final class MetricDelivery: MetricPublisher {
    private struct State {
        var publications: [Int: Task<Void, Never>] = [:]
        var next = 0
        /// Why the database could not be used the last time.
        var problem: (any Error)?
    }

    /// What is published, and since when.
    private struct Source: Sendable {
        let feature: String
        let start: Timestamp
        let read: @Sendable () -> [MetricFamily]
    }

    let link: CollectorLink<ExportedMetric>
    private let interval: Duration
    private let resource: JSONObject
    private let surroundings: Surroundings
    private let state = Mutex(State())

    init(
        _ link: CollectorLink<ExportedMetric>, every interval: Duration, of resource: JSONObject,
        _ surroundings: Surroundings
    ) {
        (self.link, self.interval, self.resource) = (link, interval, resource)
        self.surroundings = surroundings
    }

    func publish(
        of feature: String, _ read: @escaping @Sendable () -> [MetricFamily]
    ) -> @Sendable () async -> Void {
        guard link.address != nil else { return {} }
        let source = Source(feature: feature, start: surroundings.now(), read: read)
        // What is returned, or else `close`, cancels and awaits it. It has nothing of the caller in whose task it began.
        let task = Task.detached { [self] in await sendAgainAndAgain(source) }
        let number = state.withLock { state in
            state.next += 1
            state.publications[state.next] = task
            return state.next
        }
        return { [self] in await end(number, source) }
    }

    private func sendAgainAndAgain(_ source: Source) async {
        while true {
            do { try await surroundings.clock.sleep(for: interval) } catch { return }
            await send(source)
        }
    }

    private func send(_ source: Source) async {
        do {
            try await asOwnerOfCollector {
                // When it asks to wait, the next time is soon enough.
                _ = try await link.attempt { try await link.send(items(of: source), .none, count) }
            }
            state.withLock { $0.problem = nil }
        } catch is CancellationError {
            // The last values are sent again at the end.
        } catch {
            // `problems` tells those who read traces.
            state.withLock { $0.problem = error }
        }
    }

    private func count(_ items: [ExportedMetric], _ outcome: ExportOutcome) async throws {
        let address = try link.collector().address
        try await link.store.hasGot(
            count: outcome.count, of: .metrics, collector: address, refused: outcome.refused, because: outcome.message)
    }

    /// The metrics as they are now, without secrets and without those that have no value.
    private func items(of source: Source) -> [ExportedMetric] {
        let (time, redactor) = (surroundings.now(), surroundings.redactor)
        let resource = redactor.redact(resource)
        return source.read().filter { !$0.samples.isEmpty }.map { family in
            ExportedMetric(
                MetricReading(family.redacted(by: redactor), of: source.feature, since: source.start, at: time),
                of: resource)
        }
    }

    /// The problems with sending, as sentences.
    ///
    /// - Parameter time: refusals before this are not told.
    func problems(since time: Timestamp?) async throws -> [String] {
        var problems: [String] = []
        if let problem = state.withLock({ $0.problem }) {
            problems.append("metrics could not be sent: \(AnyFailure(problem).message)")
        }
        return try await problems + link.problems(since: time)
    }

    // MARK: The end

    /// Sends the last values, for a short time.
    private func end(_ number: Int, _ source: Source) async {
        guard let task = state.withLock({ $0.publications.removeValue(forKey: number) }) else { return }
        task.cancel()
        do {
            let isInTime: Void? = try await withTimeLimit(CollectorPause.farewell, on: surroundings.clock) { [self] in
                await task.value
                await send(source)
            }
            if isInTime == nil {
                try await link.postpone(CollectorPause.usual, "it did not answer in time when a command ended")
            }
        } catch {
            // Nobody is there to be told.
        }
    }

    /// Ends what nobody has ended.
    func close() async {
        let tasks = state.withLock { state in
            defer { state.publications = [:] }
            return Array(state.publications.values)
        }
        for task in tasks {
            task.cancel()
            await task.value
        }
        await link.close()
    }
}
