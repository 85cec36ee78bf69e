public import Capabilities
import FileKit

/// What a command sees and may change while it runs: the programs of the system, one folder that it works in, and nothing
/// else of this machine.
///
/// The system's folders are read-only, the home is empty and gone after the command, like `/tmp`, and only the command's
/// own processes are there. No capability, no Unix socket and no key of the person is within reach, whoever the person
/// is. In the folder it may not change what other programs would run later: see `GuardedNames`.
///
/// What it does not do: it does not divide the processor or the memory between commands, it follows a hard link in the
/// folder to a file that lies elsewhere, and it leaves repositories alone that lie deeper in the folder, but for submodules
/// and worktrees.
public struct Sandbox: Sendable, Hashable {
    /// Whether it has this machine's network, with all that listens on it.
    public var hasNetwork: Bool
    /// The person's home; nil where there is none.
    public var home: String?
    /// What it may read beside the system and its folder, such as tools that are installed in the home.
    public var shown: [String]
    /// What it must not see, even beneath its folder or what is shown: folders with secrets, sockets.
    public var hidden: [String]
    /// Folders beside its own that are empty for it. It can write there, and what it writes is gone afterwards.
    public var emptied: [String] = []
    /// What it may write beside its folder, also in folders that are empty for it.
    public var written: [String] = []
    /// What it may see in its folder and not change.
    public var kept: [String] = []
    /// Files with settings of git that the person has beside those in the home: see `gitFiles(in:)`. What they name in the
    /// folder is kept too.
    public var gitFiles: [String] = []

    public init(
        hasNetwork: Bool = false, home: String? = nil, showing shown: [String] = [], hiding hidden: [String] = []
    ) {
        self.hasNetwork = hasNetwork
        self.home = home
        self.shown = shown
        self.hidden = hidden
    }
}

extension Sandbox {
    /// The files with settings of git that variables of the person name.
    public static func gitFiles(in environment: [String: String]) -> [String] {
        let folder = environment["XDG_CONFIG_HOME"].map { "\($0)/git/config" }
        let files = [environment["GIT_CONFIG_SYSTEM"], environment["GIT_CONFIG_GLOBAL"], folder]
        return files.compactMap(\.self).filter(AbsolutePath.isAbsolute)
    }

    /// All files with settings of git that hold whatever the repository is.
    var settingsOfGit: [String] {
        ["/etc/gitconfig"] + (home.map { ["\($0)/.gitconfig", "\($0)/.config/git/config"] } ?? []) + gitFiles
    }

    /// What of the system a command sees, as far as it is there.
    static let system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix"]

    /// What of it is for the administrator only, and for a command of the administrator too.
    static let systemSecrets = [
        "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssl/private", "/etc/sudoers.d",
        "/etc/security/opasswd",
    ]

    /// What nobody makes or changes in the folder beside hooks and settings in a `.git`: settings of tools that run what
    /// these say, ours, of coding agents, of editors, of shells.
    public static let guardedNames = [".martlet", ".claude", ".mcp.json", ".envrc", ".vscode", ".husky"]

    /// What of a home is hidden also where the home is shown.
    static let homeSecrets = [
        ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials", ".npmrc", ".pypirc",
        ".pgpass",
        ".config/gcloud", ".config/gh", ".config/glab", ".config/rclone", ".local/share/keyrings", ".password-store",
        ".mozilla", ".config/google-chrome", ".config/chromium", ".bash_history", ".zsh_history", ".claude.json",
        ".codex",
    ]
}

/// What commands of models are kept from, as a setting says it.
public enum Confinement: String, Choice, Hashable {
    /// Nothing: they may do what the user may do.
    case none
    /// All of this machine but the programs of the system and one folder.
    case folder
    /// That, and the network.
    case isolated

    /// Nil where there is to be none.
    public func sandbox(home: String?, showing shown: [String], hiding hidden: [String]) -> Sandbox? {
        if self == .none { return nil }
        return Sandbox(hasNetwork: self == .folder, home: home, showing: shown, hiding: hidden)
    }
}
