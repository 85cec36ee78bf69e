import FileKit
import ProcessKit

/// Runs commands in a workspace, each in a group of processes of its own.
final class Shell: Sendable {
    /// How long a command has after it was asked to end.
    static let grace = Duration.milliseconds(200)
    /// A longer one would not fit into an argument.
    static let longestCommand = 100_000

    let options: ShellOptions
    private let launcher = Launcher()

    init(_ options: ShellOptions) {
        self.options = options
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
        let command = try await command(text, in: folder, of: workspace)
        // The folder is open for as long as it takes to start there.
        return try await launcher.withChild(command, grace: .zero) { child in
            withExtendedLifetime(folder) {}
            let following = ShellFollowing(child: child, output: try child.output, limit: limit, tell: tell)
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

    /// Standard error is joined to standard output, so that what is printed keeps its order.
    private func command(_ text: String, in folder: Folder, of workspace: Workspace) async throws -> Command {
        var words = ["sh", "-c", "exec bash -c \"$1\" bash 2>&1", "sh", text]
        if case .bubblewrap(let network) = options.sandbox {
            words = try await sandboxed(words, in: folder, of: workspace, network: network)
        }
        // By its descriptor: no path can be made to lead elsewhere meanwhile.
        var command = Command(
            words[0], Array(words.dropFirst()), environment: CommandEnvironment(options.variables),
            workingDirectory: "/proc/self/fd/\(folder.descriptor.rawValue)")
        command.errors = .null
        // It must not outlive a server that was killed.
        command.endsWithParent = true
        // Without a terminal there is none to ask for a password at, which would stop the command for good.
        command.hasOwnSession = true
        return command
    }
}

extension Shell {
    private func sandboxed(
        _ words: [String], in folder: Folder, of workspace: Workspace, network: Bool
    ) async throws -> [String] {
        let root = String(decoding: workspace.root.location, as: UTF8.self)
        let start = String(decoding: folder.location, as: UTF8.self)
        let hidden = options.hidden.compactMap(SandboxPlace.init)
        // Not with --die-with-parent, which means the thread that started it: that ends when it has been idle for long.
        let view =
            ["bwrap", "--unshare-all"] + (network ? ["--share-net"] : [])
            + ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
            + hidden.flatMap(\.hiding)
            + options.shown.compactMap(SandboxPlace.init).flatMap(\.showing)
            // What says where names are looked up often lies in /run.
            + (network ? SandboxPlace("/etc/resolv.conf")?.showing ?? [] : [])
        try await requireSandbox(view)
        // Where the workspace is the home itself, or above it, it has been asked for; what is secret has not.
        let secret = hidden.filter { $0.path.hasPrefix(root == "/" ? root : root + "/") }
        return view + ["--bind", root, root] + secret.flatMap(\.hiding) + ["--chdir", start, "--"] + words
    }

    /// A command that was to be shut in is never run without.
    private func requireSandbox(_ view: [String]) async throws {
        let probe = Command(
            view[0], view.dropFirst() + ["--", "true"], environment: CommandEnvironment(options.variables),
            workingDirectory: "/")
        let reason: String
        do {
            let done = try await launcher.run(probe, timeout: .seconds(10))
            if done.status.isSuccess { return }
            reason = LineText(done.errors.split(separator: Byte.newline).first ?? [], limit: 200).text
        } catch let error as ProcessError {
            reason = error.message
        }
        throw WorkspaceError(
            .shell,
            "commands have to run in a sandbox of bubblewrap, which does not work here (\(reason)); install"
                + " bwrap, or have the settings say that commands need no sandbox")
    }
}
