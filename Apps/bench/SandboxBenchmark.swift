import Capabilities
import CoreTesting
import FileKit
import Glibc
import HTTPTesting
import ProcessKit
import SandboxKit

/// A command in a sandbox against bubblewrap alone, alternating: with namespaces and the whole machine read-only, and
/// with the sandbox's options, for which ours must find out what to show, hide and guard.
enum SandboxBenchmark {
    private static let rounds = 200
    private static let variables = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { path in
            let (folder, other) = (try makeFolder("\(path)/own"), try makeFolder("\(path)/other"))
            let (runner, launcher) = (CommandRunner(variables: variables, sandbox: Sandbox()), Launcher.standalone)
            let engine = SandboxEngine(launcher: launcher, variables: variables)
            let bare = Command(
                "bwrap", ["--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"],
                environment: CommandEnvironment(variables), workingDirectory: path)
            let plain = Command("true", environment: CommandEnvironment(variables))
            var (ours, theirs, same, alone): ([Duration], [Duration], [Duration], [Duration]) = ([], [], [], [])
            for round in 0..<rounds {
                let own = try await time {
                    let result = try await Caller.$current.withValue(.person(HeadlessInteraction())) {
                        try await runner.run(["true"], in: folder, of: folder) { _ in }
                    }
                    guard result.status?.isSuccess == true else { throw BenchmarkError(result.output.text) }
                }
                let peer = try await time { try await run(bare, launcher) }
                // In separate folders, so that neither finds files that the other created to guard a name.
                let prepared = try await engine.command(["true"], in: Sandbox(), around: other, from: other)
                let equal = try await time { try await run(prepared.command, launcher) }
                withExtendedLifetime(prepared) {}
                let none = try await time { try await run(plain, launcher) }
                // The first run detects what this machine supports.
                guard round > 0 else { continue }
                (ours, theirs, same, alone) = (ours + [own], theirs + [peer], same + [equal], alone + [none])
            }
            let (own, peer, equal, none) = (median(ours), median(theirs), median(same), median(alone))
            return [
                Figure("a command in a sandbox / bwrap … true", own / peer, "ratio", .atMost(1.3)),
                Figure("a command in a sandbox / bwrap with its options", own / equal, "ratio"),
                Figure("a command in a sandbox", own / .milliseconds(1), "ms"),
                Figure("bwrap with its options", equal / .milliseconds(1), "ms"),
                Figure("bwrap … true", peer / .milliseconds(1), "ms"),
                Figure("true", none / .milliseconds(1), "ms"),
            ]
        }
    }

    private static func makeFolder(_ path: String) throws -> Folder {
        try Files.makeDirectories(path)
        let opened = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { throw BenchmarkError("cannot open \(path)") }
        return Folder(FileDescriptor(owning: opened, path: path))
    }

    /// Throws on a failure, since a command that fails at once would look fast.
    private static func run(_ command: Command, _ launcher: Launcher) async throws {
        let done = try await launcher.run(command, timeout: .seconds(10))
        guard done.status.isSuccess else { throw BenchmarkError(String(decoding: done.errors, as: UTF8.self)) }
    }

    private static func time(_ work: () async throws -> Void) async throws -> Duration {
        let start = ContinuousClock.now
        try await work()
        return .now - start
    }

    private static func median(_ durations: [Duration]) -> Duration { durations.sorted()[durations.count / 2] }
}
