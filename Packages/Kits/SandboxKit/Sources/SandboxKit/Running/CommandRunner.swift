import Capabilities
public import FileKit
import ProcessKit

/// Runs commands in a folder, each in a group of processes of its own and in a sandbox, if there is to be one.
public final class CommandRunner: Sendable {
    /// How long a command has after it was asked to end.
    static let grace = Duration.milliseconds(200)

    private let launcher = Launcher()
    private let variables: [String: String]
    private let sandbox: Sandbox?
    private let engine: SandboxEngine

    /// - Parameters:
    ///   - variables: all that commands get.
    ///   - sandbox: what they see and may change; nil for what the user sees and may change.
    public init(variables: [String: String], sandbox: Sandbox?) {
        self.variables = variables
        self.sandbox = sandbox
        engine = SandboxEngine(launcher: launcher, variables: variables)
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
    /// - Throws: `SandboxError` where it was to be in a sandbox and could not be; then it was not run.
    public func run(
        _ words: [String], input: [UInt8]? = nil, in folder: Folder, of root: Folder, hiding hidden: [String] = [],
        keeping kept: [String] = [], limit: Duration? = nil,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> CommandResult {
        // It is open for as long as it takes to start there.
        defer { withExtendedLifetime(folder) {} }
        let whole = ["sh", "-c", "ulimit -c 0; exec \"$@\" 2>&1", "sh"] + words
        guard var sandbox else {
            // By its descriptor: no path can be made to lead elsewhere meanwhile.
            var command = Command(
                whole[0], Array(whole.dropFirst()), environment: CommandEnvironment(variables),
                workingDirectory: "/proc/self/fd/\(folder.descriptor.rawValue)")
            command.errors = .null
            return try await follow(command, input, for: limit, telling: tell).result
        }
        sandbox.hidden += hidden
        sandbox.kept += kept
        let sandboxed = try await engine.command(whole, in: sandbox, around: root, from: folder)
        // What it guards stays guarded until the command has ended.
        defer { withExtendedLifetime(sandboxed) {} }
        let (result, errors) = try await follow(sandboxed.command, input, for: limit, telling: tell)
        if let failure = sandboxed.failure(result.status, errors: errors) { throw failure }
        return result
    }

    /// What keeps sandboxes from working on this machine; nil where they work.
    public func problem() async throws -> SandboxError? { try await engine.problem() }

    /// `errors` is what whoever starts the command has to say.
    private func follow(
        _ given: Command, _ input: [UInt8]?, for limit: Duration?,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> (result: CommandResult, errors: [UInt8]) {
        var command = given
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
                return (result, child.errorTail)
            } onCancel: {
                stopping.finish()
            }
        }
    }
}
