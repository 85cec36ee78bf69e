import Capabilities
import HostKit
import HostTesting
import JSON
import Registry
import Settings
import Synchronization
import Testing

/// A record of events, in order. Each test has its own, by a number in the settings.
private final class Diary: Sendable {
    private static let all = Mutex<[Int: Diary]>([:])
    private let entries = Mutex<[String]>([])

    static func of(_ number: Int) -> Diary {
        all.withLock { all in
            if let diary = all[number] { return diary }
            let diary = Diary()
            all[number] = diary
            return diary
        }
    }

    var lines: [String] { entries.withLock { $0 } }
    func note(_ line: String) { entries.withLock { $0.append(line) } }
}

/// Runs next to its actions and records what happens.
private struct LivingFeature: RunningFeature {
    struct Failure: Error {}

    private static let diary = Setting("diary", "Whose diary", default: 0)
    private static let fails = Setting("fails", "Whether it fails at its start", default: false)
    static let manifest = Manifest(
        id: "living", summary: "Runs", version: "1.0", settings: [diary.declaration, fails.declaration])

    private let diary: Diary
    private let fails: Bool

    init(_ settings: FeatureSettings) {
        diary = Diary.of(settings[Self.diary])
        fails = settings[Self.fails]
    }

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("living.work", "Do something", .writes) { [diary] _ in
                diary.note("action")
                return Nothing()
            })
        registry.add(
            Action("living.wait", "Wait for ever", .reads) { [diary] _ in
                do { try await Task.sleep(for: .seconds(600)) } catch { diary.note("action was cancelled") }
                return Nothing()
            })
        registry.add(Action("living.look", "Look at once", .reads) { _ in Nothing() }.instant())
    }

    func run(in host: Host, report: @escaping @Sendable (Health) -> Void) async throws {
        if fails { throw Failure() }
        diary.note("start")
        report(.ok)
        let (ends, continuation) = AsyncStream<Never>.makeStream()
        for await _ in ends {}
        withExtendedLifetime(continuation) { diary.note("stop") }
    }
}

@Suite("Performing an action", .timeLimit(.minutes(5)))
struct PerformTests {
    private func withLiving(_ number: Int, _ body: (inout TestWorkbench, Diary) async throws -> Void) async throws {
        try await withBench(LivingFeature.self) { bench in
            bench.options.settings = ["living.diary=\(number)"]
            try await body(&bench, Diary.of(number))
        }
    }

    @Test("The feature of an action starts before it and stops after it") func lives() async throws {
        try await withLiving(1) { bench, diary in
            try await bench.perform("living.work")
            #expect(diary.lines == ["start", "action", "stop"])
        }
    }

    @Test("An instant action starts nothing") func instant() async throws {
        try await withLiving(2) { bench, diary in
            try await bench.perform("living.look")
            try await bench.perform("version")
            #expect(diary.lines == [])
        }
    }

    @Test("An action that takes too long is cancelled, and its feature stopped") func timeout() async throws {
        try await withLiving(3) { bench, diary in
            let problem = await failure { try await bench.perform("living.wait", limit: .milliseconds(50)) }
            #expect(problem?.code == "host.timed-out")
            #expect(problem?.exit == .unreachable)
            #expect(problem?.message.contains("50ms") == true)
            #expect(diary.lines == ["start", "action was cancelled", "stop"])
        }
    }

    @Test("An action of a feature that did not start is refused with the reason") func failedFeature() async throws {
        try await withLiving(4) { bench, diary in
            bench.options.settings.append("living.fails=true")
            let problem = await failure { try await bench.perform("living.work") }
            #expect(problem?.code == "host.feature-failed")
            #expect(problem?.message.contains("living") == true)
            #expect(diary.lines == [])
        }
    }

    @Test("An action of a feature that is off, or left out by --only, is refused") func off() async throws {
        try await withLiving(5) { bench, diary in
            bench.options.settings.append("features.living=false")
            #expect(await failure { try await bench.perform("living.work") }?.code == "registry.no-action")
            bench.options = .init()
            bench.options.only = ["host"]
            #expect(await failure { try await bench.perform("living.work") }?.code == "registry.no-action")
        }
    }
}
