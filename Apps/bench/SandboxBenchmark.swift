import FileKit
import Glibc
import HTTPTesting
import ProcessKit
import SandboxKit

/// A command in a sandbox against bubblewrap alone, with name spaces and the whole machine read-only, in turns.
enum SandboxBenchmark {
    private static let rounds = 200
    private static let variables = ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { path in
            let opened = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard opened >= 0 else { throw BenchmarkError("cannot open \(path)") }
            let folder = Folder(FileDescriptor(owning: opened, path: path))
            let (runner, launcher) = (CommandRunner(variables: variables, sandbox: Sandbox()), Launcher())
            let bare = Command(
                "bwrap", ["--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "true"],
                environment: CommandEnvironment(variables), workingDirectory: path)
            var (ours, theirs, alone): ([Duration], [Duration], [Duration]) = ([], [], [])
            for round in 0..<rounds {
                let own = try await time {
                    let result = try await runner.run(["true"], in: folder, of: folder) { _ in }
                    guard result.status?.isSuccess == true else { throw BenchmarkError(result.output.text) }
                }
                let peer = try await time { _ = try await launcher.run(bare, timeout: .seconds(10)) }
                let plain = Command("true", environment: CommandEnvironment(variables))
                let none = try await time { _ = try await launcher.run(plain, timeout: .seconds(10)) }
                // The first finds out what this machine allows.
                if round > 0 { (ours, theirs, alone) = (ours + [own], theirs + [peer], alone + [none]) }
            }
            let (own, peer, none) = (median(ours), median(theirs), median(alone))
            return [
                Figure("a command in a sandbox / bwrap … true", own / peer, "ratio", .atMost(1.3)),
                Figure("a command in a sandbox", own / .milliseconds(1), "ms"),
                Figure("bwrap … true", peer / .milliseconds(1), "ms"),
                Figure("true", none / .milliseconds(1), "ms"),
            ]
        }
    }

    private static func time(_ work: () async throws -> Void) async throws -> Duration {
        let start = ContinuousClock.now
        try await work()
        return .now - start
    }

    private static func median(_ durations: [Duration]) -> Duration { durations.sorted()[durations.count / 2] }
}
