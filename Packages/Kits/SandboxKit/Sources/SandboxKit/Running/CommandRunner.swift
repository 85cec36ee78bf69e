import Capabilities
public import FileKit
import ProcessKit

/// Runs commands in a folder, each in a group of processes of its own and in a sandbox, if there is to be one.
public final class CommandRunner: Sendable {
    /// How long a command has after it was asked to end.
    static let grace = Duration.milliseconds(200)

    private let launcher: Launcher
    private let variables: [String: String]
    private let sandbox: Sandbox?
    private let engine: SandboxEngine

    /// - Parameters:
    ///   - variables: all that commands get.
    ///   - sandbox: what they see and may change; nil for what the user sees and may change.
    public convenience init(variables: [String: String], sandbox: Sandbox?) {
        self.init(variables: variables, sandbox: sandbox, by: nil, launcher: Launcher())
    }

    init(variables: [String: String], sandbox: Sandbox?, by engine: Engine?, launcher: Launcher) {
        self.launcher = launcher
        self.variables = variables
        self.sandbox = sandbox
        self.engine = SandboxEngine(launcher: launcher, variables: variables, by: engine)
    }

    /// Runs a command to its end, or until the limit is over; then the whole group is asked to end, and killed after
    /// the grace, and so it is at once in a task that is cancelled.
    ///
    /// What it has started and left behind is ended with it. What it prints goes to `tell` as it comes; a command
    /// that prints faster than that is taken has to wait. Standard error is joined to standard output, so that what is
    /// printed keeps its order.
    ///
    /// - Parameters:
    ///   - folder: where it starts.
    ///   - root: the folder in or above it in which a command in a sandbox may write.
    ///   - hidden: what it must not see of that, in a sandbox.
    ///   - kept: what it may see and not write.
    /// - Returns: how it ended; with the exit code 127 of a shell where there is no such program in the sandbox, and 126
    ///   where it cannot be executed.
    /// - Throws: `SandboxError` where it was to be in a sandbox and could not be; then it was not run. Without a sandbox
    ///   `ProcessError` where the program cannot be started.
    public func run(
        _ words: [String], input: [UInt8]? = nil, in folder: Folder, of root: Folder, hiding hidden: [String] = [],
        keeping kept: [String] = [], limit: Duration? = nil,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> CommandResult {
        // It is open for as long as it takes to start there.
        defer { withExtendedLifetime(folder) {} }
        guard var sandbox else {
            // By its descriptor: no path can be made to lead elsewhere meanwhile.
            let command = Command(
                words[0], Array(words.dropFirst()), environment: CommandEnvironment(variables),
                workingDirectory: "/proc/self/fd/\(folder.descriptor.rawValue)")
            return try await follow(command, input, for: limit, telling: tell)
        }
        sandbox.hidden += hidden
        sandbox.kept += kept
        let sandboxed = try await engine.command(words, in: sandbox, around: root, from: folder)
        // What it guards stays guarded until the command has ended.
        defer { withExtendedLifetime(sandboxed) {} }
        do {
            var result = try await follow(sandboxed.command, input, for: limit, telling: tell)
            result.engine = sandboxed.kind
            guard sandboxed.hasFailed(result.status) else { return result }
            // What was not run has printed nothing: there is only what bubblewrap says.
            let errors = Array(result.output.text.utf8)
            guard let code = sandboxed.exitCode(ofUnstarted: errors) else {
                throw SandboxError.notMade(SandboxError.firstLine(of: errors))
            }
            result.status = .exited(code)
            return result
        } catch let error as ProcessError {
            guard let code = sandboxed.exitCode(ofUnstarted: error) else {
                throw SandboxError.notMade(error.message)
            }
            let text = "\(error.message)\n"
            await tell(text)
            var result = CommandResult(output: OutputExcerpt(), status: .exited(code), engine: sandboxed.kind)
            result.output.add(text.bytes)
            return result
        }
    }

    /// What sandboxes are made by on this machine; throws `SandboxError` where none can be.
    public func support() async throws -> SandboxSupport { try await engine.support() }

    private func follow(
        _ given: Command, _ input: [UInt8]?, for limit: Duration?,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> CommandResult {
        var command = given
        command.errors = .output
        command.hasNoCore = true
        if let input { command.input = .bytes(input) }
        // It must not outlive a server that was killed.
        command.endsWithParent = true
        // Without a terminal there is none to ask for a password at, which would stop the command for good.
        command.hasOwnSession = true
        return try await launcher.withChild(command, grace: .zero) { child in
            let following = CommandFollowing(child: child, output: try child.output, limit: limit, tell: tell)
            let (stop, stopping) = AsyncStream<Void>.makeStream()
            // It has to see the end of a command that was stopped, which nothing in a cancelled task can wait for. This
            // closure is its owner and waits for it in any case.
            let work = Task { await following.run(stop) }
            return try await withTaskCancellationHandler {
                let result = await work.value
                try Task.checkCancellation()
                return result
            } onCancel: {
                stopping.finish()
            }
        }
    }
}
