import Capabilities
import Chat
import Glibc
import HTTPTesting
import HostKit
import Registry

/// The second action of a session that is open against a process that does it alone: a list of conversations.
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
                        "chat.list", as: .person(HeadlessInteraction()), output: Silence())
                }
                let alone = try await time {
                    let (status, _) = Child.wait(
                        for: try Child.start(
                            MartletProgram.path, ["chat", "list", "-q"],
                            variables: variables.merging(["HOME": folder]) { $1 }
                        ))
                    guard status == 0 else { throw BenchmarkError("chat list ended with \(status)") }
                }
                // The first opens the history.
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
