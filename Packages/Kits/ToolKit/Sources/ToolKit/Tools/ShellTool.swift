import Capabilities
import ProcessKit
import SandboxKit

/// `bash.run`
struct ShellTool: WorkspaceTool {
    private static let usualLimit = 120_000
    private static let longestLimit = 600_000
    private static let confined =
        "It runs in a sandbox: it can write only in the working folder, but for .git/hooks, .git/config and the settings"
        + " of editors and agents there; the home and /tmp are empty and gone afterwards"

    /// A longer one would not fit into an argument.
    private static let longestCommand = 100_000

    private let options: ShellOptions
    private let runner: CommandRunner

    init(_ options: ShellOptions) {
        self.options = options
        runner = CommandRunner(variables: options.variables, sandbox: options.sandbox)
    }

    let name = "bash.run"
    var summary: String {
        let reach =
            switch options.sandbox?.hasNetwork {
            case nil: "It can do whatever the user can, also outside of the working folder and over the network."
            case true?: "\(Self.confined)."
            case false?: "\(Self.confined), and there is no network."
            }
        return """
            Runs a command with bash in the working folder and gives what it prints and its exit code. \(reach) Nothing can \
            be typed into it, and what it leaves running is ended with it. Of long output the beginning and the end are \
            given. It is ended after 2 minutes, or timeout_ms.
            """
    }
    let properties: [Schema.Property] = [
        Schema.Property("command", "The command", .string),
        .optional("timeout_ms", "How many milliseconds it may take (default: 120000)", .integer(1...longestLimit)),
        .optional("folder", "The folder to run it in (default: the working folder)", .path(.any)),
    ]
    let effect = Effect.writes
    /// Above what a command may take, so that it is the command that is told about.
    let limit: Duration? = .milliseconds(longestLimit + 15_000)

    func outcome(
        _ input: ToolInput, in workspace: Workspace, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolOutcome {
        let command = input.text("command")
        guard !command.utf8.contains(0), (1...Self.longestCommand).contains(command.utf8.count) else {
            throw WorkspaceError(
                .input,
                "the command is empty, has a NUL or is longer than \(Self.longestCommand) bytes; write a longer"
                    + " one to a file and run that")
        }
        let path = try input.text("folder").isEmpty ? EntryPath.here : EntryPath(input.text("folder"))
        let limit = Duration.milliseconds(input.number("timeout_ms") ?? Self.usualLimit)
        let folder = try await workspace.work { _ in try workspace.folder(path) }
        let result = try await runner.run(
            ["bash", "-c", command, "bash"], in: folder, of: workspace.root, limit: limit, telling: tell)
        return Self.outcome(result, limit, options.sandbox)
    }

    private static func outcome(_ result: CommandResult, _ limit: Duration, _ sandbox: Sandbox?) -> ToolOutcome {
        var text = result.output.text
        if !text.isEmpty, !text.hasSuffix("\n") { text += "\n" }
        var notes: [String] = []
        if text.isEmpty { notes.append("it printed nothing") }
        if result.isOverTime {
            notes.append("it was ended after \(limit.words), and had not finished; set timeout_ms for more time")
        }
        switch result.status {
        case .exited(0): break
        case .exited(let code): notes.append("exit code \(code)")
        case .signalled(let number) where !result.isOverTime: notes.append("it was ended by signal \(number)")
        default: break
        }
        let isSuccess = result.status?.isSuccess == true && !result.isOverTime
        if !isSuccess, let sandbox { notes += Self.reasons(for: text, in: sandbox) }
        return ToolOutcome(
            text: text + notes.map { "[\($0)]" }.joined(separator: "\n"), isError: !isSuccess,
            exitCode: result.status.map { Int($0.code) })
    }

    /// What is to be known where a command seems to have failed because of its sandbox.
    private static func reasons(for text: String, in sandbox: Sandbox) -> [String] {
        var reasons: [String] = []
        // A name that is kept free is there as an empty folder.
        let isKept = text.split(separator: "\n").contains { line in
            ["File exists", "Is a directory"].contains(where: line.contains)
                && Sandbox.guardedNames.contains(where: line.contains)
        }
        if isKept || ["Read-only file system", "Device or resource busy"].contains(where: text.contains) {
            let names = Sandbox.guardedNames.joined(separator: ", ")
            reasons.append(
                "in the sandbox only the working folder can be written, and of it neither git's hooks and settings nor"
                    + " \(names)")
        }
        let signs = ["resolve host", "name resolution", "Network is unreachable"]
        if !sandbox.hasNetwork, signs.contains(where: text.contains) {
            reasons.append("there is no network in the sandbox; ask the person to allow one")
        }
        return reasons
    }
}
