import Capabilities
import CoreTesting
import FileKit
import HostKit
import HostTesting
import JSON
import Registry
import Settings
import Synchronization
import Testing

/// A capability that is ready only while its feature runs.
private protocol Greeter: AnyObject, Sendable {
    var isReady: Bool { get }
}

/// A feature that takes a moment to start.
private struct SlowFeature: RunningFeature {
    final class Doorman: Greeter {
        let state = Mutex((starts: 0, stops: 0, closes: 0, isReady: false, isAnybodys: true))

        var isReady: Bool { state.withLock { $0.isReady } }
        var isAnybodys: Bool { state.withLock { $0.isAnybodys } }
    }

    static let manifest = Manifest(
        id: "slow", summary: "Takes a moment", version: "1.0", provides: [.single((any Greeter).self)])
    private let doorman = Doorman()

    init(_ settings: FeatureSettings) {}

    /// Yields when the action that ignores cancellation has begun.
    static let deafness = AsyncStream.makeStream(of: Void.self)

    func register(in registry: inout RegistryBuilder) {
        let doorman = doorman
        registry.provide((any Greeter).self, doorman)
        registry.closes { doorman.state.withLock { $0.closes += 1 } }
        registry.add(Action("slow.look", "Whether it is there", .reads) { _ in doorman.isReady })
        registry.add(
            Action("slow.person", "Whose action the background belongs to", .reads) { _ in doorman.isAnybodys })
        registry.add(
            Action("slow.deaf", "Never end, and hear nothing", .reads) { _ in
                Self.deafness.continuation.yield()
                await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                return true
            })
        registry.add(
            Action("slow.counts", "How often it was started, stopped and closed", .reads) { _ in
                doorman.state.withLock { [$0.starts, $0.stops, $0.closes] }
            }
            .instant())
    }

    func run(in host: Host, report: @escaping @Sendable (Health) -> Void) async throws {
        doorman.state.withLock { ($0.starts, $0.isAnybodys) = ($0.starts + 1, ActionContext.current != nil) }
        for _ in 0..<100 { await Task.yield() }
        doorman.state.withLock { $0.isReady = true }
        report(.ok)
        do { try await host.clock.sleep(for: .seconds(3600)) } catch {}
        doorman.state.withLock { ($0.stops, $0.isReady) = ($0.stops + 1, false) }
    }
}

/// Looks up other features' capabilities in its actions.
private struct SeekingFeature: Feature {
    static let manifest = Manifest(id: "seeking", summary: "Looks others up", version: "1.0")

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.add(
            Action("seeking.find", "Who is there", .reads) { context in
                let greeter = try await context.provider(of: (any Greeter).self)
                let trust = try await context.provider(of: (any TrustStore).self)
                return ["greeter": .bool(greeter?.isReady == true), "trust": .bool(trust != nil)] as JSON
            })
        registry.add(
            Action("seeking.hang", "Begin what never ends", .reads) { context in
                try await context.within(.milliseconds(10)) {
                    await unsafe withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                }
                return true
            })
    }
}

@Suite("WorkbenchSession", .timeLimit(.minutes(5)))
struct SessionTests {
    /// The result of an action that the person runs.
    private func result(
        of id: String, in session: WorkbenchSession, limit: Duration? = nil
    ) async throws -> JSON {
        try await session.perform(
            id, as: .person(HeadlessInteraction()), output: RecordingOutput(), limit: limit
        ).json
    }

    private func look(_ session: WorkbenchSession) async throws -> JSON {
        try await result(of: "slow.look", in: session, limit: .seconds(60))
    }

    @Test("Actions share a feature: it starts once, all of them wait for it, and it stops at the end")
    func shared() async throws {
        try await withBench(SlowFeature.self) { bench in
            let session = try bench.workbench.open()
            let seen = try await withThrowingTaskGroup(of: JSON.self) { group in
                for _ in 0..<10 { group.addTask { try await look(session) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(seen == Array(repeating: true, count: 10))
            #expect(await session.close() == [])
            let counts = try await result(of: "slow.counts", in: session)
            #expect(counts == [1, 1, 1])
        }
    }

    @Test("A capability is found with its feature running, or not at all if there is no provider")
    func provider() async throws {
        try await withBench(SlowFeature.self, SeekingFeature.self) { bench in
            let session = try bench.workbench.open()
            let found = try await result(of: "seeking.find", in: session)
            #expect(found == ["greeter": true, "trust": false])
            #expect(await session.close() == [])
        }
    }

    @Test("An action is refused if its caller lacks the right, and performed if the caller has it")
    func callers() async throws {
        try await withBench(SlowFeature.self) { bench in
            let session = try bench.workbench.open()
            let person = Caller.person(HeadlessInteraction())
            let model = person.narrowed(by: .model)
            func bundle(_ effects: Effect, _ actions: [String] = []) -> Caller {
                person.narrowed(by: Grant(Grant.Layer(.bundle("b"), effects: effects, actions: actions)))
            }
            func perform(_ id: String, _ caller: Caller) async -> AnyFailure? {
                await failure {
                    _ = try await session.perform(
                        id, ["key": "profile", "value": "lab"], as: caller, output: RecordingOutput())
                }
            }
            for caller in [
                model, bundle(.reads), bundle(.destroys, ["*"]), bundle(.reads, ["config.set"]).narrowed(by: .model),
            ] {
                let refused = await perform("config.set", caller)
                #expect(refused?.code == "access.denied" && refused?.exit == .usage)
                #expect(!Files.exists(bench.userFile))
            }
            for caller in [person, bundle(.reads, ["config.set"])] {
                // The action itself runs and finds no such profile.
                #expect(await perform("config.set", caller)?.code == "settings.invalid")
            }
            for caller in [model, bundle(.reads), person] {
                let done = await failure {
                    _ = try await session.perform("version", as: caller, output: RecordingOutput())
                }
                #expect(done == nil)
            }
            #expect(await session.close() == [])
        }
    }

    @Test("Background work cannot ask the person of an action")
    func background() async throws {
        try await withBench(SlowFeature.self) { bench in
            let session = try bench.workbench.open()
            let isAnybodys = try await ActionContext.$current.withValue(try TestHost([any Feature.Type]()).context()) {
                try await result(of: "slow.person", in: session)
            }
            #expect(isAnybodys == false)
            #expect(await session.close() == [])
        }
    }

    @Test("A closed session refuses actions, and closes only once")
    func closed() async throws {
        try await withBench(SlowFeature.self) { bench in
            let session = try bench.workbench.open()
            let seen = try await look(session)
            #expect(seen == true)
            #expect(await session.close() == [])
            #expect(await session.close() == [])
            #expect(await failure { _ = try await look(session) }?.code == "host.closed")
            let counts = try await result(of: "slow.counts", in: session)
            #expect(counts == [1, 1, 1])
        }
    }

    @Test("An action whose caller was cancelled is abandoned long before its limit")
    func cancelled() async throws {
        try await withBench(SlowFeature.self) { bench in
            let session = try bench.workbench.open()
            let task = Task {
                _ = try await result(of: "slow.deaf", in: session, limit: .seconds(3600))
            }
            for await _ in SlowFeature.deafness.stream { break }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(await session.close() == [])
        }
    }

    @Test("An action that exceeds its limit is abandoned, even if it does not react")
    func limit() async throws {
        try await withBench(SeekingFeature.self) { bench in
            let session = try bench.workbench.open()
            let failure = await failure { _ = try await result(of: "seeking.hang", in: session) }
            #expect(failure?.code == "host.timed-out")
            #expect(await session.close() == [])
        }
    }
}

@Suite("Trust in a project's bundles", .timeLimit(.minutes(5)))
struct TrustedBundlesTests {
    @Test("Trust applies to exactly the content that was read, and ends with the trust in the project")
    func content() async throws {
        try await withBench { bench in
            let bundle = "\(bench.home)/work/.martlet/bundles/a.yaml"
            try bench.write("name: a", to: bundle)
            func isTrusted(_ text: String) throws -> Bool {
                try bench.workbench.registry.one((any TrustedFiles).self).trusts(bundle, content: Array(text.utf8))
            }
            #expect(try !isTrusted("name: a"))
            let trusted = try await bench.perform("config.trust", ["path": .string("\(bench.home)/work")]).json
            #expect(trusted["bundles"] == [.string(bundle)])
            #expect(try isTrusted("name: a") && !isTrusted("name: b"))
            #expect(!bench.output.notices.joined().contains("is already trusted"))
            try await bench.perform("config.trust", ["path": .string("\(bench.home)/work")])
            #expect(bench.output.notices.last?.contains("is already trusted") == true)
            try await bench.perform("config.untrust", ["path": .string("\(bench.home)/work")])
            #expect(try !isTrusted("name: a"))
        }
    }
}
