import Capabilities
import CoreTesting
import FileKit
import JSON
import StorageKit
import Synchronization
import Testing
import TraceStore

/// A store in a folder, with spools that tests fill.
struct StoreLab {
    let folder: String
    let store: TraceStore
    let time = TestTime()

    static func run(
        _ budget: TraceStore.Budget = TraceStore.Budget(), _ body: (StoreLab) async throws -> Void
    ) async throws {
        try await TemporaryDirectory.run { folder in
            let lab = StoreLab(folder: folder, budget)
            try await body(lab)
            await lab.store.close()
        }
    }

    private init(folder: String, _ budget: TraceStore.Budget) {
        self.folder = folder
        store = TraceStore(
            TraceStore.database(at: "\(folder)/trace.db"), spools: "\(folder)/spool", budget: budget, now: time.now)
    }

    /// The sink of a process.
    func spool(
        _ name: String = "p", _ limits: SpanSpool.Limits = SpanSpool.Limits(), for collector: String? = nil,
        logs logCollector: String? = nil, without redactor: Redactor = Redactor(),
        clock: any Clock<Duration> = ContinuousClock()
    ) -> SpanSpool {
        SpanSpool(
            in: "\(folder)/spool", as: name, ["service.name": .string(name)],
            for: CollectorAddresses(spans: collector, logs: logCollector), limits: limits,
            without: redactor, clock: clock, ignoring: "trace", relieve: store.takeSpools)
    }

    func tracer(_ sinks: any SpanSink...) -> Tracer { Tracer(sinks: sinks, now: time.now) }

    /// The names of all spans in the database.
    func names() async throws -> [String] {
        var names: [String] = []
        try await store.forEachSpan(TraceQuery()) { names.append($0.span.name) }
        return names
    }
}

/// A time of day that goes on by a second whenever it is asked for.
final class TestTime: Sendable {
    private let count = Mutex(0)

    func advance(by seconds: Int) { count.withLock { $0 += seconds } }

    var now: @Sendable () -> Timestamp {
        { [self] in
            let seconds = count.withLock { count in
                count += 1
                return count
            }
            return Timestamp(microseconds: 1_800_000_000_000_000) + .seconds(seconds)
        }
    }
}
