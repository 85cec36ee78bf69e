import Bundles
import Capabilities
import CoreTesting
import FileKit
import Glibc
import JSON
import Registry
import Runs
import Synchronization
import Testing

/// Performs the actions of the tests, which are closures by name.
final class TestPerformer: StepPerformer {
    typealias Work = @Sendable (_ arguments: JSONObject, _ output: any ActionOutput) async throws -> JSON

    private let actions: [String: Work]
    private let log = Mutex<[(action: String, arguments: JSONObject)]>([])
    private let running = Mutex((now: 0, most: 0))

    init(_ actions: [String: Work] = [:]) {
        self.actions = actions
    }

    /// The performed actions, in the order they started.
    var calls: [String] {
        log.withLock { $0.map { "\($0.action)\($0.arguments.isEmpty ? "" : " \(JSON.object($0.arguments))")" } }
    }
    /// The maximum number of actions that ran at once.
    var most: Int { running.withLock { $0.most } }

    func perform(
        _ action: String, _ arguments: JSONObject, step: String, output: any ActionOutput, limit: Duration,
        grant: Grant
    ) async throws -> JSON {
        log.withLock { $0.append((action, arguments)) }
        running.withLock {
            $0.now += 1
            $0.most = max($0.most, $0.now)
        }
        defer { running.withLock { $0.now -= 1 } }
        guard let work = actions[action] else { return .object(arguments) }
        return try await within(limit) { try await work(arguments, output) }
    }

    func within<Value: Sendable>(
        _ limit: Duration, _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await ContinuousClock().sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw TestFailure("nothing", exit: .failed) }
            guard let value = first else { throw TestFailure("too slow", exit: .unreachable) }
            return value
        }
    }
}

struct TestFailure: Failure {
    let message: String
    let exit: ExitCode
    var code: String { "test.failed" }

    init(_ message: String, exit: ExitCode) {
        self.message = message
        self.exit = exit
    }
}

/// Provides a journal in a temporary folder, which is removed afterwards.
func withLab(_ body: (inout Lab) async throws -> Void) async throws {
    try await TemporaryDirectory.run { folder in
        var lab = Lab(folder: folder, journal: Journal("\(folder)/runs.db", now: { .testNow() }))
        let result: Result<Void, any Error>
        do { result = .success(try await body(&lab)) } catch { result = .failure(error) }
        await lab.journal.close()
        try result.get()
    }
}

/// Runs bundles.
struct Lab {
    let folder: String
    let journal: Journal
    let redactor = Redactor()
    var files: [String: String] = [:]
    var options = RunOptions()

    struct Done: Sendable {
        let summary: RunSummary
        let events: [RunEvent]

        /// The last state of each step, as `id: status`.
        var states: [String] {
            var last: [String: StepStatus] = [:]
            var order: [String] = []
            for step in summary.steps {
                if last[step.key] == nil { order.append(step.key) }
                last[step.key] = step.outcome.status
            }
            return order.map { "\($0): \(last[$0]?.rawValue ?? "")" }
        }

        func result(_ key: String) -> JSON? { summary.steps.last { $0.key == key }?.outcome.result }
    }

    func bundle(_ text: String) throws -> Bundle { try Bundle(BundleSource(Array(text.utf8), file: "b.yaml")) }

    func run(
        _ text: String, _ performer: TestPerformer = TestPerformer(), inputs: JSONObject = [:],
        on journalRun: JournalRun? = nil, now: @escaping @Sendable () -> Timestamp = { .testNow() }
    ) async throws -> Done {
        let bundle = try bundle(text)
        let events = EventLog()
        let files = files
        let started: JournalRun
        if let journalRun { started = journalRun } else { started = try await journal.begin(bundle, inputs: inputs) }
        let engine = RunEngine(
            performer: performer, journal: started, options: options, redactor: redactor, clock: ContinuousClock(),
            now: now, reach: BundleReach(),
            loadBundle: { (path, _) throws(BundleFailure) in
                try BundleSource(Array(files[path, default: ""].utf8), file: path)
            },
            environment: { bundle, _, _ in
                bundle.environment.reduce(into: JSONObject()) { values, one in
                    if case .variable(let name, _) = one.value { values.append(one.name, .string(name)) }
                }
            }, emit: { await events.add($0) })
        let values = BundleInputs.values(for: bundle, values: inputs)
        guard values.problems.isEmpty else { throw BundleFailure(values.problems) }
        return Done(summary: try await engine.run(bundle, inputs: values.values), events: await events.all)
    }
}

actor EventLog {
    private(set) var all: [RunEvent] = []

    func add(_ event: RunEvent) { all.append(event) }
}

extension Timestamp {
    /// The time since the start of the tests, from a fixed date.
    static func testNow() -> Timestamp {
        let since = ContinuousClock.now - testStart
        return Timestamp(microseconds: 1_790_000_000_000_000) + since
    }
}

private let testStart = ContinuousClock.now
