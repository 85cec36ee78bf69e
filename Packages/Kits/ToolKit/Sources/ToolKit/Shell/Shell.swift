import FileKit
import ProcessKit
import SandboxKit

/// Runs commands in a workspace, each in a group of processes of its own.
final class Shell: Sendable {
    /// How long a command has after it was asked to end.
    static let grace = Duration.milliseconds(200)
    /// A longer one would not fit into an argument.
    static let longestCommand = 100_000

    let options: ShellOptions
    private let launcher = Launcher()
    private let engine: SandboxEngine

    init(_ options: ShellOptions) {
        self.options = options
        engine = SandboxEngine(launcher: launcher, variables: options.variables)
    }

    /// Runs a command to its end, or until the limit is over; then the whole group is asked to end, and killed after
    /// the grace, and so it is at once in a task that is cancelled.
    ///
    /// What it has started and left behind is ended with it. What it prints goes to `tell` as it comes; a command
    /// that prints faster than that is taken has to wait.
    func run(
        _ text: String, in folder: Folder, of workspace: Workspace, limit: Duration,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ShellResult {
        // It is open for as long as it takes to start there.
        defer { withExtendedLifetime(folder) {} }
        var words = ["sh", "-c", "ulimit -c 0; exec bash -c \"$1\" bash 2>&1", "sh", text]
        guard let sandbox = options.sandbox else {
            // By its descriptor: no path can be made to lead elsewhere meanwhile.
            var command = Command(
                words.removeFirst(), words, environment: CommandEnvironment(options.variables),
                workingDirectory: "/proc/self/fd/\(folder.descriptor.rawValue)")
            command.errors = .null
            return try await follow(command, for: limit, telling: tell).result
        }
        let sandboxed = try await engine.command(words, in: sandbox, around: workspace.root, from: folder)
        let (result, errors) = try await follow(sandboxed.command, for: limit, telling: tell)
        if let failure = sandboxed.failure(result.status, errors: errors) { throw failure }
        return result
    }

    /// Standard error is joined to standard output, so that what is printed keeps its order; `errors` is what whoever
    /// starts the command has to say.
    private func follow(
        _ given: Command, for limit: Duration, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> (result: ShellResult, errors: [UInt8]) {
        var command = given
        // It must not outlive a server that was killed.
        command.endsWithParent = true
        // Without a terminal there is none to ask for a password at, which would stop the command for good.
        command.hasOwnSession = true
        return try await launcher.withChild(command, grace: .zero) { child in
            let following = ShellFollowing(child: child, output: try child.output, limit: limit, tell: tell)
            let (stop, stopping) = AsyncStream<Void>.makeStream()
            // It has to see the end of a command that was stopped, which nothing in a cancelled task can wait for. This
            // closure is its owner and waits for it in any case.
            let work = Task { await following.run(stop) }
            return try await withTaskCancellationHandler {
                let result = await work.value
                try Task.checkCancellation()
                return (result, child.errorTail)
            } onCancel: {
                stopping.finish()
            }
        }
    }
}
