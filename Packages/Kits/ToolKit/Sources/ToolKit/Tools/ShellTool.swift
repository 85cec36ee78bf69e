import Capabilities
import FileKit
import ProcessKit
public import SandboxKit

/// `bash.run`
struct ShellTool: WorkspaceTool {
    private static let usualLimit = 120_000
    private static let longestLimit = 600_000
    private static let confined =
        "It runs in a sandbox: it can write only in the working folder, but for .git/hooks, .git/config and the settings"
        + " of editors and agents there; the home and /tmp are empty and gone afterwards"

    /// A longer command would not fit into an argument.
    private static let longestCommand = 100_000

    private let options: ShellOptions
    private let runner: CommandRunner

    init(_ options: ShellOptions) {
        self.options = options
        runner = CommandRunner(variables: options.variables, sandbox: options.sandbox)
    }

    let name = WorkspaceTools.command
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
    /// Longer than the longest command timeout, so that the error is that of the command.
    let limit: Duration? = .milliseconds(longestLimit + 15_000)

    func reach(_ input: ToolInput, in workspace: Workspace) async throws -> ToolReach {
        let (command, path) = (try Self.command(input), try Self.folder(input))
        return try await workspace.work { cancellation in
            let folder = try workspace.folder(path)
            let shades = try workspace.shades(cancellation)
            return reach(command, folder, shades)
        }
    }

    func outcome(
        _ input: ToolInput, in workspace: Workspace, reaching agreed: ToolReach?,
        telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolOutcome {
        let (command, path) = (try Self.command(input), try Self.folder(input))
        let limit = Duration.milliseconds(input.number("timeout_ms") ?? Self.usualLimit)
        let (folder, shades) = try await workspace.work { cancellation in
            let folder = try workspace.folder(path)
            let shades = try workspace.shades(cancellation)
            if let agreed, reach(command, folder, shades) != agreed { throw ToolReachChanged() }
            return (folder, shades)
        }
        let result = try await runner.run(
            ["bash", "-c", command, "bash"], in: folder, of: workspace.root, hiding: shades.hidden,
            keeping: shades.kept,
            limit: limit, telling: tell)
        return Self.outcome(result, limit, options.sandbox, shades)
    }

    private static func command(_ input: ToolInput) throws(WorkspaceError) -> String {
        let command = input.text("command")
        guard !command.utf8.contains(0), (1...longestCommand).contains(command.utf8.count) else {
            throw WorkspaceError(
                .input,
                "the command is empty, has a NUL or exceeds \(longestCommand) bytes; write a longer one to a"
                    + " file and run that")
        }
        return command
    }

    private static func folder(_ input: ToolInput) throws(WorkspaceError) -> EntryPath {
        try input.text("folder").isEmpty ? .here : EntryPath(input.text("folder"))
    }

    /// The folder of the command and the files that it names. An approved script must not be replaced by another one.
    private func reach(_ text: String, _ folder: Folder, _ shades: Shades) -> ToolReach {
        var caution =
            options.isSandboxed
            ? shades.gap : "it runs without a sandbox and can do whatever you can"
        var hasher = Hasher()
        let place = AbsolutePath(bytes: folder.location)
        hasher.combine(place)
        let names = Self.names(in: text)
        if names.count > Self.mostNames { caution = caution ?? "it is too long to check all files that it names" }
        // Words after `cd` may be the folders of later words.
        let bases =
            [EntryPath.here]
            + zip(names, names.dropFirst()).filter { $0.0 == Array("cd".utf8) }.map { EntryPath(bytes: $0.1) }
        for name in names.prefix(Self.mostNames) {
            for base in bases.prefix(4) {
                let path = EntryPath(
                    bytes: name.first == Byte.slash ? Self.inside(name, folder) : base.appending(name).bytes)
                // Most words are not files.
                guard let file = try? folder.open(path, to: .look, followingLinks: true),
                    let status = try? EntryStatus(of: file), status.kind == .regular
                else { continue }
                hasher.combine(Folder.location(of: file))
                hasher.combine(status.stamp)
                hasher.combine(status.changed)
            }
        }
        let command = ToolReach.Command(text, isSandboxed: caution == nil, caution: caution)
        return ToolReach(paths: [place], command: command, state: hasher.finalize())
    }

    private static let mostNames = 1000

    /// The words of a command, without quotes.
    private static func names(in text: String) -> [[UInt8]] {
        let quotes = "'\"\\".utf8
        let bytes = Array(text.utf8).filter { !quotes.contains($0) }
        return bytes.split { " \t\n;|&<>(){}`=".utf8.contains($0) }.filter { $0.count < 1024 }.map(Array.init)
    }

    /// An absolute path made relative to the folder, if it is inside.
    private static func inside(_ name: [UInt8], _ folder: Folder) -> [UInt8] {
        let location = folder.location + [Byte.slash]
        return name.starts(with: location) ? Array(name.dropFirst(location.count)) : name
    }

    private static func outcome(_ result: CommandResult, _ limit: Duration, _ sandbox: Sandbox?, _ shades: Shades)
        -> ToolOutcome
    {
        var text = result.output.text
        if !text.isEmpty, !text.hasSuffix("\n") { text += "\n" }
        var notes: [String] = []
        if text.isEmpty { notes.append("no output") }
        if result.isOverTime {
            notes.append("stopped after \(limit.words) before it finished; set timeout_ms for more time")
        }
        switch result.status {
        case .exited(0): break
        case .exited(let code): notes.append("exit code \(code)")
        case .signalled(let number) where !result.isOverTime: notes.append("killed by signal \(number)")
        default: break
        }
        let isSuccess = result.status?.isSuccess == true && !result.isOverTime
        if !isSuccess, let sandbox { notes += Self.reasons(for: text, in: sandbox, by: result.engine, shades) }
        return ToolOutcome(
            text: text + notes.map { "[\($0)]" }.joined(separator: "\n"), isError: !isSuccess,
            exitCode: result.status.map { Int($0.code) })
    }

    /// Explanations if a command seems to have failed because of its sandbox.
    static func reasons(
        for text: String, in sandbox: Sandbox, by engine: SandboxSupport.Kind?, _ shades: Shades
    ) -> [String] {
        var reasons: [String] = []
        // A reserved name appears as an empty folder.
        let isKept = text.split(separator: "\n").contains { line in
            ["File exists", "Is a directory"].contains(where: line.contains)
                && Sandbox.guardedNames.contains(where: line.contains)
        }
        let names = Sandbox.guardedNames.joined(separator: ", ")
        if isKept || ["Read-only file system", "Device or resource busy"].contains(where: text.contains) {
            reasons.append(
                "in the sandbox only the working folder is writable, except for git's hooks and settings and"
                    + " \(names)")
        }
        let refusals = ["Permission denied", "Operation not permitted", "Invalid cross-device link"]
        if engine == .landlock, refusals.contains(where: text.contains) {
            reasons.append(
                "this machine's sandbox is Landlock: files in the working folder can be changed, but nothing can"
                    + " be created, renamed or removed directly in that folder or in .git, and none of \(names) can be"
                    + " created; installing bubblewrap removes these limits; without it, work in a subfolder, put temporary"
                    + " files into $TMPDIR, and leave commits to the user"
                    + (sandbox.hasNetwork ? "" : "; there is no network, not even to this machine"))
        }
        let signs = ["resolve host", "name resolution", "Network is unreachable"]
        if !sandbox.hasNetwork, signs.contains(where: text.contains) {
            reasons.append("the sandbox has no network; ask the user to allow it")
        }
        let shaded = (shades.hidden + shades.kept).map { $0.split(separator: "/").last.map(String.init) ?? $0 }
        if let name = shaded.first(where: text.contains) {
            reasons.append("rules of the user deny \(PlainText.escape(name)) to commands")
        }
        return reasons
    }
}

/// How commands run.
public struct ShellOptions: Sendable, Hashable {
    /// The whole environment of a command.
    let variables: [String: String]
    /// What a command can see and change; nil for the rights of the user.
    public let sandbox: Sandbox?

    /// Only `PATH`, `HOME` and `LANG` of the environment are passed on, so that no secret in other variables gets into
    /// a command.
    public init(environment: [String: String], sandbox: Sandbox?) {
        variables = [
            "PATH": environment["PATH"] ?? "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": environment["HOME"] ?? "/", "LANG": environment["LANG"] ?? "C.UTF-8", "TERM": "dumb",
        ]
        var sandbox = sandbox
        sandbox?.gitFiles = Sandbox.gitFiles(in: environment)
        self.sandbox = sandbox
    }

    /// Whether commands run in a sandbox.
    public var isSandboxed: Bool { sandbox != nil }

    /// The kind of sandbox on this machine. Throws `SandboxError` if there is none.
    public func sandboxSupport() async throws -> SandboxSupport {
        try await SandboxEngine(launcher: Launcher(), variables: variables).support()
    }

    /// With the environment of this process, in a sandbox without network.
    public init() {
        let environment = Environment.snapshot()
        self.init(environment: environment, sandbox: Sandbox(home: environment["HOME"]))
    }
}
