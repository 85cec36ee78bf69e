import Capabilities
import FileKit
import ProcessKit
public import SandboxKit
public import ToolKit

/// The sandbox for the `claude` command and its child processes. They see the folder of the turn, the program, its
/// sign-in, the user's settings for it, and its sessions for this folder. Other files that they write are gone after
/// the turn.
public struct ClaudeSandbox: Sendable {
    /// The entries of its own folder that it may read but not change, because some of these files name programs to run.
    private static let settings = [
        "settings.json", "CLAUDE.md", "rules", "agents", "commands", "skills", "output-styles", "plugins",
    ]
    /// The file to which it writes a renewed sign-in.
    private static let signIn = ".credentials.json"
    /// The length above which it shortens names of folders and adds a hash.
    private static let longestName = 200

    private let workspace: Workspace
    private let sandbox: Sandbox

    /// - Parameters:
    ///   - workspace: The folder of the turn, with the paths that rules deny to tools.
    ///   - sandbox: The sandbox for models' commands. `claude` always gets network access, to reach its model.
    public init(_ workspace: Workspace, _ sandbox: Sandbox) {
        (self.workspace, self.sandbox) = (workspace, sandbox)
    }

    /// The command, ready to start in the sandbox.
    struct Prepared {
        let sandboxed: SandboxedCommand
        let walls: Walls
    }

    /// What the sandbox does not prevent.
    struct Walls {
        /// Why the command can reach something that a rule denies; nil if the sandbox hides all of it.
        let gap: String?
        /// Whether it has network access although other models' commands have none.
        let hasExtraNetwork: Bool

        /// The caution to show with an approval request for one of its commands.
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

    /// The files that must be visible to start a program outside the system's folders.
    private static func files(of program: String, called name: String, home: String?) -> [String] {
        var files = [program]
        // The program's package, and those that it needs.
        if let range = program.utf8.firstRange(of: "/node_modules/".utf8) {
            files = [program[..<range.lowerBound] + "/node_modules"]
        }
        // The interpreter is often in the same folder.
        let folder = AbsolutePath(name).folder
        let holdsHome = home.map { AbsolutePath($0).lies(beneath: folder) } ?? false
        return holdsHome ? files : files + [folder.text]
    }

    /// The name under which it keeps the sessions of this folder. If a version uses another name, its sessions are lost
    /// after the turn, and the next turn sends it the conversation.
    private static func name(of workspace: Workspace) -> String {
        let units = workspace.place.text.utf16.prefix(longestName).map { unit -> Character in
            guard unit < 128, let scalar = Unicode.Scalar(unit) else { return "-" }
            let character = Character(scalar)
            return character.isLetter || character.isNumber ? character : "-"
        }
        return String(units)
    }
}
