public import Capabilities
import FileKit

/// What a command can see and change while it runs: the programs of the system, its folder, and nothing else of this
/// machine.
///
/// The system's folders are read-only. The home and `/tmp` are empty, and their contents are discarded afterwards. Only
/// the command's own processes are visible. Capabilities, Unix sockets and the user's keys are out of reach for every
/// user. In the folder the command cannot change files that other programs run later: see `GuardedNames`.
///
/// Limits: it does not divide the processor or memory between commands. It follows hard links in the folder to files
/// elsewhere. Repositories deeper in the folder are not guarded, except for submodules and worktrees.
public struct Sandbox: Sendable, Hashable {
    /// Whether the command has network access, including everything that listens on this machine.
    public var hasNetwork: Bool
    /// The user's home; nil if there is none.
    public var home: String?
    /// Additional readable paths, such as tools installed in the home.
    public var shown: [String]
    /// Paths that the command cannot see, even inside its folder or `shown`: secrets, sockets.
    public var hidden: [String]
    /// Additional folders that are empty for the command. It can write there, and the contents are discarded
    /// afterwards.
    public var emptied: [String] = []
    /// Additional writable paths, also inside emptied folders.
    public var written: [String] = []
    /// Paths in its folder that the command can only read.
    public var kept: [String] = []
    /// Git settings files of the user besides those in the home: see `gitFiles(in:)`. Paths that they name in the
    /// folder are guarded too.
    public var gitFiles: [String] = []

    /// A sandbox whose lasting changes are only those in the command's folder, until `written` names more.
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
    /// The git settings files that environment variables name.
    public static func gitFiles(in environment: [String: String]) -> [String] {
        let folder = environment["XDG_CONFIG_HOME"].map { "\($0)/git/config" }
        let files = [environment["GIT_CONFIG_SYSTEM"], environment["GIT_CONFIG_GLOBAL"], folder]
        return files.compactMap(\.self).filter(AbsolutePath.isAbsolute)
    }

    /// All git settings files that apply to every repository.
    var settingsOfGit: [String] {
        ["/etc/gitconfig"] + (home.map { ["\($0)/.gitconfig", "\($0)/.config/git/config"] } ?? []) + gitFiles
    }

    /// With the repository elsewhere that the folder belongs to.
    func showing(_ guarded: GuardedNames) -> Sandbox {
        var sandbox = self
        sandbox.shown += guarded.shown
        sandbox.written += guarded.written
        return sandbox
    }

    /// The system folders that a command sees, if they exist.
    static let system = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix"]

    /// System paths that are hidden, even if an administrator runs the command.
    private static let systemSecrets = [
        "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/ssl/private", "/etc/sudoers.d",
        "/etc/security/opasswd",
    ]

    /// Names that commands cannot create or change in the folder, besides hooks and settings in a `.git`: settings of
    /// tools that run what these name, of Martlet, of coding agents, of editors and of shells.
    public static let guardedNames = [".martlet", ".claude", ".mcp.json", ".envrc", ".vscode", ".husky"]

    /// Paths in a home that are hidden even if the home is shown.
    private static let homeSecrets = [
        ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".netrc", ".git-credentials", ".npmrc", ".pypirc",
        ".pgpass",
        ".config/gcloud", ".config/gh", ".config/glab", ".config/rclone", ".local/share/keyrings", ".password-store",
        ".mozilla", ".config/google-chrome", ".config/chromium", ".bash_history", ".zsh_history", ".claude.json",
        ".codex",
    ]
}

/// The confinement of commands that models run, as set in the settings.
public enum Confinement: String, Choice, Hashable {
    /// No confinement: the rights of the user.
    case none
    /// Only the system's programs and one folder.
    case folder
    /// The same, without network access.
    case isolated

    /// Nil if there is no sandbox.
    public func sandbox(home: String?, showing shown: [String], hiding hidden: [String]) -> Sandbox? {
        if self == .none { return nil }
        return Sandbox(hasNetwork: self == .folder, home: home, showing: shown, hiding: hidden)
    }
}

extension Sandbox {
    /// What a command sees. Everything else does not exist for it, even if it is mounted or created later.
    ///
    /// - Parameter folder: nil for a view without a folder.
    func mounts(around folder: AbsolutePath?) throws(SandboxError) -> [Mount] {
        let home = home.flatMap(Self.place)
        if let folder { try Self.check(folder, home) }
        var mounts = [Mount(.scratch, AbsolutePath("/tmp")), Mount(.scratch, AbsolutePath("/var/tmp"))]
        for path in Self.system {
            switch Self.kind(path) {
            case .folder, .file: mounts.append(Mount(.readable, AbsolutePath(path)))
            case .link, nil: continue
            }
        }
        // The resolver configuration is often in /run.
        let names = hasNetwork ? ["/etc/resolv.conf"].compactMap(Self.place) : []
        let emptied = emptied.compactMap(Self.place)
        mounts += ([home].compactMap(\.self) + emptied).map { Mount(.scratch, $0) }
        mounts += names.map { Mount(.readable, $0) } + shown.compactMap { Self.mount(.readable, $0, in: emptied) }
        if let folder {
            // The folder shows its contents, even in the home.
            mounts.removeAll { $0.path.lies(beneath: folder) }
            mounts.append(Mount(.writable, folder))
        }
        mounts += written.compactMap { Self.mount(.writable, $0, in: emptied) }
        if let folder {
            for path in (kept + self.hidden).map({ AbsolutePath($0) }) {
                guard let names = path.names(beneath: folder), !names.isEmpty else { continue }
                // The folders above cannot be renamed, because a rename would take the path out of the rule.
                var above = folder
                for name in names.dropLast() {
                    above = AbsolutePath(bytes: above.bytes + "/".bytes + name)
                    mounts.append(Mount(.fixed, above))
                }
            }
            mounts += kept.compactMap(Self.place).map { Mount(.guarded, $0) }
        }
        let seen = mounts.filter { $0.kind != .scratch }.map(\.path)
        for hidden in hiddenPlaces {
            guard seen.contains(where: hidden.lies) else { continue }
            let isFolder = if case .folder = Self.kind(hidden.text) { true } else { false }
            mounts.append(Mount(isFolder ? .hiddenFolder : .hiddenFile, hidden))
        }
        return mounts
    }

    /// Throws if no sandbox can be created around the folder.
    func check(_ folder: AbsolutePath) throws(SandboxError) { try Self.check(folder, home.flatMap(Self.place)) }

    /// Whether a path is hidden, or is inside a hidden path.
    func hides(_ path: AbsolutePath) -> Bool { hiddenPlaces.contains(where: path.lies) }

    private var hiddenPlaces: [AbsolutePath] {
        let secrets = home.flatMap(Self.place).map { home in Self.homeSecrets.map { home.appending($0).text } } ?? []
        return (hidden + secrets + Self.systemSecrets + Self.hostKeys()).compactMap(Self.place)
    }

    /// The links among the system's folders, and their targets.
    static func systemLinks() -> [(path: String, target: String)] {
        system.compactMap { path in
            if case .link(let target)? = kind(path) { (path, target) } else { nil }
        }
    }

    /// Rejects folders whose files other programs always run or obey.
    private static func check(_ folder: AbsolutePath, _ home: AbsolutePath?) throws(SandboxError) {
        if home?.lies(beneath: folder) == true {
            throw SandboxError(
                .folder,
                "cannot run commands in \(PlainText.escape(folder.text)): it is or contains your home, whose files"
                    + " other programs run; use a folder inside it")
        }
        let closed = ["/proc", "/sys", "/dev", "/boot", "/etc", "/run"].map { AbsolutePath($0) }
        guard folder.names.isEmpty || closed.contains(where: folder.lies) else { return }
        throw SandboxError(
            .folder,
            "cannot run commands in \(PlainText.escape(folder.text)): a sandbox around system folders is not possible")
    }

    private enum Kind {
        case file, folder
        case link(String)
    }

    private static func kind(_ path: String) -> Kind? {
        // A path that does not exist or cannot be accessed is not shown.
        guard let info = try? Files.info(path, followLinks: false) else { return nil }
        switch info.kind {
        case .directory: return .folder
        case .symbolicLink: return (try? Files.canonical(path)).map(Kind.link)
        default: return .file
        }
    }

    /// The canonical path, because bubblewrap mounts nothing else; nil if it does not exist, and for the root.
    private static func place(_ path: String) -> AbsolutePath? {
        guard AbsolutePath.isAbsolute(path), let canonical = try? Files.canonical(path), canonical != "/" else {
            return nil
        }
        return AbsolutePath(canonical)
    }

    /// Mounts a path at its canonical place. A link inside an emptied folder does not exist there, so its target is
    /// mounted in its place.
    private static func mount(_ kind: Mount.Kind, _ path: String, in emptied: [AbsolutePath]) -> Mount? {
        guard let source = place(path) else { return nil }
        let link = AbsolutePath(path)
        if let name = link.names.last, let folder = place(link.folder.text), emptied.contains(where: folder.lies) {
            return Mount(kind, folder.appending(String(decoding: name, as: UTF8.self)), from: source)
        }
        return Mount(kind, source)
    }

    /// The host keys of this machine.
    private static func hostKeys() -> [String] {
        // Without an ssh server the folder does not exist.
        guard let entries = try? Files.list("/etc/ssh") else { return [] }
        return entries.map(\.name).filter { $0.hasPrefix("ssh_host_") && $0.hasSuffix("_key") }.map { "/etc/ssh/\($0)" }
    }
}

/// A path as a command sees it.
struct Mount: Hashable {
    /// Later kinds cover earlier ones at the same path.
    enum Kind: Int {
        /// Empty and writable; the contents are discarded afterwards.
        case scratch
        case readable
        case writable
        /// Writable, but it cannot be renamed, or removed together with guarded files in it.
        case fixed
        /// Read-only.
        case guarded
        /// Empty and read-only.
        case hiddenFolder
        case hiddenFile
    }

    let kind: Kind
    let path: AbsolutePath
    /// The path that is shown there: the same path, unless a link leads to it.
    private let source: AbsolutePath

    init(_ kind: Kind, _ path: AbsolutePath, from source: AbsolutePath? = nil) {
        (self.kind, self.path, self.source) = (kind, path, source ?? path)
    }

    /// The options for bubblewrap. It applies them in order, so outer paths come first: a later mount covers everything
    /// below it.
    static func options(_ mounts: [Mount]) -> [[UInt8]] {
        let sorted = mounts.sorted {
            ($0.path.names.count, $0.kind.rawValue) < ($1.path.names.count, $1.kind.rawValue)
        }
        // A mount inside a hidden folder needs its name to exist first.
        let sealed = sorted.filter { $0.kind == .hiddenFolder }.flatMap { ["--remount-ro".bytes, $0.path.bytes] }
        return sorted.flatMap(\.options) + sealed
    }

    private var options: [[UInt8]] {
        switch kind {
        case .scratch: ["--perms".bytes, "1777".bytes, "--tmpfs".bytes, path.bytes]
        case .hiddenFolder: ["--tmpfs".bytes, path.bytes]
        case .readable, .guarded: ["--ro-bind".bytes, source.bytes, path.bytes]
        case .writable, .fixed: ["--bind".bytes, source.bytes, path.bytes]
        case .hiddenFile: ["--ro-bind".bytes, "/dev/null".bytes, path.bytes]
        }
    }
}

extension StringProtocol {
    var bytes: [UInt8] { Array(utf8) }
}
