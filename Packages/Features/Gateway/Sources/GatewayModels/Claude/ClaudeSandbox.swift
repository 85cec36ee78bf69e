import Capabilities
import FileKit
import ProcessKit
public import SandboxKit
public import ToolKit

/// The sandbox in which the `claude` command works with all that it starts: it sees the folder of its turn, its own
/// program, its sign-in, the user's settings for it, and the sessions that it has kept for this folder. Nothing else that it
/// writes outlasts the turn.
public struct ClaudeSandbox: Sendable {
    /// The part of its own folder that it reads and must not change: some of these files name programs to run.
    private static let settings = [
        "settings.json", "CLAUDE.md", "rules", "agents", "commands", "skills", "output-styles", "plugins",
    ]
    /// It writes a renewed sign-in here.
    private static let signIn = ".credentials.json"
    /// It shortens longer names of folders and adds a hash.
    private static let longestName = 200

    private let workspace: Workspace
    private let sandbox: Sandbox

    /// - Parameters:
    ///   - workspace: the folder of the turn, with what rules keep from tools.
    ///   - sandbox: the sandbox of models' commands; `claude` gets a network in it in any case, to reach its model.
    public init(_ workspace: Workspace, _ sandbox: Sandbox) {
        (self.workspace, self.sandbox) = (workspace, sandbox)
    }

    /// The command, ready to be started in the sandbox.
    struct Prepared {
        let sandboxed: SandboxedCommand
        let walls: Walls
    }

    /// What the sandbox does not keep the command from.
    struct Walls {
        /// Why it can reach something that a rule denies; nil where the sandbox hides all of that.
        let gap: String?
        /// Whether it has a network although other commands of models have none.
        let hasExtraNetwork: Bool

        /// What to tell who is asked about one of its commands.
        var caution: String? {
            gap ?? (hasExtraNetwork ? "claude needs the network, and its commands have it too" : nil)
        }
    }

    func prepare(_ command: Command) async throws -> Prepared {
        var (sandbox, variables) = (sandbox, command.environment.variables)
        let program = try Files.canonical(command.executable)
        sandbox.hasNetwork = true
        sandbox.shown += Self.files(of: program, called: command.executable, home: sandbox.home)
        if let folder = variables["CLAUDE_CONFIG_DIR"] ?? variables["HOME"].map({ "\($0)/.claude" }) {
            let conversations = "\(folder)/projects/\(Self.name(of: workspace))"
            try Files.makeDirectories(conversations)
            sandbox.emptied.append(folder)
            sandbox.shown += Self.settings.map { "\(folder)/\($0)" }
            sandbox.written += ["\(folder)/\(Self.signIn)", conversations]
        }
        // These name folders that are not in the sandbox.
        for name in ["TMPDIR", "XDG_RUNTIME_DIR"] { variables[name] = nil }
        let (sandboxed, gap) = try await workspace.sandboxed(
            [program] + command.arguments, variables: variables, in: sandbox)
        return Prepared(
            sandboxed: sandboxed, walls: Walls(gap: gap, hasExtraNetwork: !self.sandbox.hasNetwork))
    }

    /// What must be visible to start a program that is not among the system's.
    private static func files(of program: String, called name: String, home: String?) -> [String] {
        var files = [program]
        // Its package, and those that it needs.
        if let range = program.firstRange(of: "/node_modules/") {
            files = [program[..<range.lowerBound] + "/node_modules"]
        }
        // The interpreter is often in the same folder.
        let folder = AbsolutePath(name).folder
        let holdsHome = home.map { AbsolutePath($0).lies(beneath: folder) } ?? false
        return holdsHome ? files : files + [folder.text]
    }

    /// The name under which it keeps the sessions of this folder. If a version uses another name, its sessions end with the
    /// turn, and the next turn tells it what was said.
    private static func name(of workspace: Workspace) -> String {
        let units = workspace.place.text.utf16.prefix(longestName).map { unit -> Character in
            guard unit < 128, let scalar = Unicode.Scalar(unit) else { return "-" }
            let character = Character(scalar)
            return character.isLetter || character.isNumber ? character : "-"
        }
        return String(units)
    }
}
