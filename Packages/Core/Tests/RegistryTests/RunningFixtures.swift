import Capabilities
import CoreTesting
import Synchronization

@testable import Registry

/// A record of what running features did, in order, and the doors that a test opens for them.
final class Journal: Sendable {
    private let lines = Mutex<[String]>([])
    private let doors = Mutex<[String: Door]>([:])
    private let held = Mutex<Set<String>>([])

    var entries: [String] { lines.withLock { $0 } }

    func note(_ line: String) { lines.withLock { $0.append(line) } }

    /// Makes `pass` wait at this line until the test opens the door of the same name.
    func hold(_ line: String) { held.withLock { _ = $0.insert(line) } }

    /// Notes a line, after the test has opened its door if the line is held.
    func pass(_ line: String) async {
        if held.withLock({ $0.contains(line) }) { await door(line).wait() }
        note(line)
    }

    /// The door of that name, the same for every caller.
    func door(_ name: String) -> Door {
        doors.withLock { doors in
            let door = doors[name] ?? Door()
            doors[name] = door
            return door
        }
    }
}

/// Opens once; waiting for it cannot be cancelled.
final class Door: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func open() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }
}

/// Returns when the running task is cancelled.
func untilCancelled() async {
    do { try await Promise<Void>().value() } catch {}
}

/// Provides the test's journal to the running features.
struct JournalFeature: PlainFeature {
    static let manifest = Manifest(id: "journal", summary: "Notes", version: "1", provides: [.single(Journal.self)])
    private let journal = Journal()

    func register(in registry: inout RegistryBuilder) { registry.provide(Journal.self, journal) }
}

/// The behaviour of a running feature.
protocol Behaviour: Sendable {
    typealias Report = @Sendable (Health) -> Void

    static func run(_ id: String, _ report: Report, _ journal: Journal) async throws
}

/// Reports and runs until it is cancelled.
enum Steady: Behaviour {
    static func run(_ id: String, _ report: Report, _ journal: Journal) async throws {
        journal.note("ok \(id)")
        report(.ok)
        await untilCancelled()
    }
}

/// Reports when the test opens a door.
enum HeldBack: Behaviour {
    static func run(_ id: String, _ report: Report, _ journal: Journal) async throws {
        await journal.door("go").wait()
        try await Steady.run(id, report, journal)
    }
}

/// Fails before it reports.
enum Failing: Behaviour {
    static func run(_ id: String, _ report: Report, _ journal: Journal) async throws { throw DemoFailure() }
}

/// Never reports.
enum Silent: Behaviour {
    static func run(_ id: String, _ report: Report, _ journal: Journal) async throws {
        await untilCancelled()
        throw CancellationError()
    }
}

/// Ignores its cancellation.
enum Stubborn: Behaviour {
    static func run(_ id: String, _ report: Report, _ journal: Journal) async throws {
        report(.ok)
        await journal.door("leave").wait()
    }
}

/// Ends at once without a report.
enum Brief: Behaviour {
    static func run(_ id: String, _ report: Report, _ journal: Journal) async throws {}
}

/// Is well until the test opens a door.
enum Moody: Behaviour {
    static func run(_ id: String, _ report: Report, _ journal: Journal) async throws {
        report(.ok)
        await journal.door("worse").wait()
        report(.degraded("no answer; trying again"))
        await journal.door("better").wait()
        report(.ok)
        await journal.door("break").wait()
        throw DemoFailure()
    }
}

/// Throws an error when it is cancelled.
enum Sulky: Behaviour {
    static func run(_ id: String, _ report: Report, _ journal: Journal) async throws {
        report(.degraded("not quite well"))
        await untilCancelled()
        throw DemoFailure()
    }
}

/// Provides a mark, needs another mark unless both are the same, and runs with the given behaviour.
struct Runner<Own: Mark, Needed: Mark, How: Behaviour>: PlainFeature, RunningFeature {
    static var manifest: Manifest {
        Manifest(
            id: name(of: Own.self), summary: "Runs", version: "1", provides: [.single(Own.self)],
            needs: Own.self == Needed.self ? [] : [.one(Needed.self)])
    }

    func register(in registry: inout RegistryBuilder) { registry.provide(Own.self, Own()) }

    func run(in host: Host, report: @escaping @Sendable (Health) -> Void) async throws {
        let id = Self.manifest.id
        let journal = try host.registry.one(Journal.self)
        journal.note("run \(id)")
        defer { journal.note("end \(id)") }
        try await How.run(id, report, journal)
    }
}

/// Provides a mark, needs another mark unless both are the same, and has two things to close.
struct Closer<Own: Mark, Needed: Mark>: PlainFeature {
    static var manifest: Manifest {
        Manifest(
            id: name(of: Own.self), summary: "Closes", version: "1", provides: [.single(Own.self)],
            needs: Own.self == Needed.self ? [] : [.one(Needed.self)])
    }

    func register(in registry: inout RegistryBuilder) {
        registry.provide(Own.self, Own())
        let id = Self.manifest.id
        let whole = registry.whole
        for place in ["first", "second"] {
            registry.closes {
                await whole.registry?.optional(Journal.self)?.pass("close \(place) \(id)")
            }
        }
    }
}

/// A lifecycle over features in memory, with its clock and journal.
struct Stage {
    let lifecycle: Lifecycle
    let clock: TestClock
    let journal: Journal
    let composition: Composition

    init(_ types: [any Feature.Type], settings: String = "{}") throws {
        let test = try TestHost([JournalFeature.self] + types, settings: settings)
        composition = test.composition
        clock = test.clock
        journal = try test.composition.registry.one(Journal.self)
        lifecycle = Lifecycle(host: test.host)
    }

    func state(_ id: String) -> FeatureState { lifecycle.states[id] }

    /// Returns once a feature is in a state.
    func wait(for id: String, toBe wanted: FeatureState) async {
        // The subscription begins before the check, so that no change is missed in between.
        let changes = lifecycle.states.changes()
        if state(id) == wanted { return }
        for await change in changes where change.feature == id && change.state == wanted { return }
    }
}
