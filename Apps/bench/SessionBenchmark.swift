import Capabilities
import Chat
import CoreTesting
import Glibc
import HTTPTesting
import HostKit
import JSON
import Registry
import Settings

/// The second action of an open session against a separate process for the same action: a list of conversations.
enum SessionBenchmark {
    private static let rounds = 200

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let program = try MartletProgram(in: folder)
            let variables = program.variables(port: 1)
            let workbench = Workbench(
                name: "martlet", version: "bench", features: [BuiltInFeature(ChatFeature.self)],
                environment: ["HOME": folder, "PATH": "/usr/bin:/bin"].merging(variables) { $1 })
            let session = workbench.open()
            var times = (session: Samples(), process: Samples())
            for round in 0..<rounds {
                let own = try await time {
                    _ = try await session.perform(
                        "chat.list", as: .person(HeadlessInteraction()), output: SilentOutput())
                }
                let alone = try await time {
                    let (status, _) = Child.wait(
                        for: try Child.start(
                            MartletProgram.path, ["chat", "list", "-q"],
                            variables: variables.merging(["HOME": folder]) { $1 }
                        ))
                    guard status == 0 else { throw BenchmarkError("chat list ended with \(status)") }
                }
                // The first action opens the history.
                if round == 0 { continue }
                times.session.add(own)
                times.process.add(alone)
            }
            await session.close()
            return [
                Figure(
                    "a session's second action / a process of its own", times.session.median / times.process.median,
                    "ratio", .atMost(0.1)),
                Figure("a session's second action", times.session.median * 1000, "ms"),
                Figure("a process of its own", times.process.median * 1000, "ms"),
            ]
        }
    }

    private static func time(_ work: () async throws -> Void) async throws -> Duration {
        let start = ContinuousClock.now
        try await work()
        return .now - start
    }
}

/// The overhead of a session's `perform` (find the action, decide, check the arguments, run it) against one lookup of a
/// capability and one check of the arguments, for the user and for a bundle with few rights.
enum DoorBenchmark {
    private static let count = 20_000

    static func run() async throws -> [Figure] {
        let workbench = Workbench(
            name: "bench", version: "1", features: [BuiltInFeature(DoorFeature.self)],
            environment: ["HOME": "/nonexistent"])
        if let failure = workbench.failure { throw failure }
        let (session, registry) = (workbench.open(), workbench.registry)
        let person = Caller.person(HeadlessInteraction())
        let folders = Grant.Folders(roots: [FolderRoot(path: "/srv", canonical: "/srv", device: 1, inode: 1)])
        let bundle = person.narrowed(by: Grant(Grant.Layer(.bundle("b"), effects: .reads, folders: folders)))
        let arguments: JSONObject = ["name": "stone", "count": 3, "file": "/srv/data/file.txt"]
        let action = try registry.actions.find("door.look")
        var best = (person: Duration.seconds(3600), bundle: Duration.seconds(3600), plain: Duration.seconds(3600))
        for _ in 0..<15 {
            best.person = min(best.person, try await time(session, arguments, as: person))
            best.bundle = min(best.bundle, try await time(session, arguments, as: bundle))
            let start = ContinuousClock.now
            for _ in 0..<count { try look(registry, action, arguments) }
            best.plain = min(best.plain, .now - start)
        }
        await session.close()
        func each(_ duration: Duration) -> Double { duration / .nanoseconds(1) / Double(count) }
        return [
            Figure("perform, person / a lookup and a check", best.person / best.plain, "ratio", .atMost(3)),
            Figure("perform, bundle / a lookup and a check", best.bundle / best.plain, "ratio", .atMost(10)),
            Figure("perform, person", each(best.person), "ns"), Figure("perform, bundle", each(best.bundle), "ns"),
            Figure("a lookup and a check", each(best.plain), "ns"),
        ]
    }

    private static func time(
        _ session: WorkbenchSession, _ arguments: JSONObject, as caller: Caller
    ) async throws -> Duration {
        let start = ContinuousClock.now
        for _ in 0..<count {
            let result = try await session.perform("door.look", arguments, as: caller, output: SilentOutput())
            guard result is String else { throw BenchmarkError("the action gave something else") }
        }
        return .now - start
    }

    // Not inlined, so that none of it is moved out of the loop.
    @inline(never)
    private static func look(_ registry: Registry, _ action: Action, _ arguments: JSONObject) throws {
        _ = try registry.one((any SecretStore).self)
        guard action.problems(in: arguments).isEmpty else { throw BenchmarkError("the arguments do not fit") }
    }
}

private struct DoorFeature: Feature {
    static let manifest = Manifest(
        id: "door", summary: "One action", version: "1.0", provides: [.single((any SecretStore).self)])

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any SecretStore).self, EnvironmentSecretStore { [:] } as any SecretStore)
        registry.add(
            Action(
                "door.look", "Look at a thing", .reads,
                .argument("name", "What is looked at"), .option("count", "How often", in: 1...100, default: 1),
                .option("file", "The file in which it stands", as: ReadPath?.self)
            ) { _, name, _, _ in name }
            .instant())
    }
}
