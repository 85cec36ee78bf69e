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

extension Sandbox {
    /// What a command sees, and how: all else is not there, whatever is mounted or made later.
    ///
    /// - Parameter folder: nil for a view without any.
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
        // What says where names are looked up often lies in /run.
        let names = hasNetwork ? ["/etc/resolv.conf"].compactMap(Self.place) : []
        let emptied = emptied.compactMap(Self.place)
        mounts += ([home].compactMap(\.self) + emptied).map { Mount(.scratch, $0) }
        mounts += names.map { Mount(.readable, $0) } + shown.compactMap { Self.mount(.readable, $0, in: emptied) }
        if let folder {
            // It shows what is in it, the home too.
            mounts.removeAll { $0.path.lies(beneath: folder) }
            mounts.append(Mount(.writable, folder))
        }
        mounts += written.compactMap { Self.mount(.writable, $0, in: emptied) }
        if let folder {
            for path in (kept + self.hidden).map({ AbsolutePath($0) }) {
                guard let names = path.names(beneath: folder), !names.isEmpty else { continue }
                // None of the folders above can be renamed, which would take it out of the rule.
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

    /// Refuses a folder around which none is made.
    func check(_ folder: AbsolutePath) throws(SandboxError) { try Self.check(folder, home.flatMap(Self.place)) }

    /// Whether a place is hidden, or lies in something that is.
    func hides(_ path: AbsolutePath) -> Bool { hiddenPlaces.contains(where: path.lies) }

    private var hiddenPlaces: [AbsolutePath] {
        let secrets = home.flatMap(Self.place).map { home in Self.homeSecrets.map { home.appending($0).text } } ?? []
        return (hidden + secrets + Self.systemSecrets + Self.hostKeys()).compactMap(Self.place)
    }

    /// The links among the folders of the system, with where they lead.
    static func systemLinks() -> [(path: String, target: String)] {
        system.compactMap { path in
            if case .link(let target)? = kind(path) { (path, target) } else { nil }
        }
    }

    /// Refuses folders whose files run or decide whatever a person does.
    private static func check(_ folder: AbsolutePath, _ home: AbsolutePath?) throws(SandboxError) {
        if home?.lies(beneath: folder) == true {
            throw SandboxError(
                .folder,
                "commands are not run in \(PlainText.escape(folder.text)): it is or holds your home, whose files other"
                    + " programs run; use a folder in it")
        }
        let closed = ["/proc", "/sys", "/dev", "/boot", "/etc", "/run"].map { AbsolutePath($0) }
        guard folder.names.isEmpty || closed.contains(where: folder.lies) else { return }
        throw SandboxError(
            .folder,
            "commands are not run in \(PlainText.escape(folder.text)): no sandbox can be made around the system")
    }

    private enum Kind {
        case file, folder
        case link(String)
    }

    private static func kind(_ path: String) -> Kind? {
        // What is not there, or cannot be looked at, is not shown.
        guard let info = try? Files.info(path, followLinks: false) else { return nil }
        switch info.kind {
        case .directory: return .folder
        case .symbolicLink: return (try? Files.canonical(path)).map(Kind.link)
        default: return .file
        }
    }

    /// Where a path leads, since bubblewrap mounts on nothing else; nil for what is not there, and for the root.
    private static func place(_ path: String) -> AbsolutePath? {
        guard AbsolutePath.isAbsolute(path), let canonical = try? Files.canonical(path), canonical != "/" else {
            return nil
        }
        return AbsolutePath(canonical)
    }

    /// Shows a path where it leads. A link in a folder that is empty inside is not there to be followed, so that what it
    /// leads to is shown in its place.
    private static func mount(_ kind: Mount.Kind, _ path: String, in emptied: [AbsolutePath]) -> Mount? {
        guard let source = place(path) else { return nil }
        let link = AbsolutePath(path)
        if let name = link.names.last, let folder = place(link.folder.text), emptied.contains(where: folder.lies) {
            return Mount(kind, folder.appending(String(decoding: name, as: UTF8.self)), from: source)
        }
        return Mount(kind, source)
    }

    /// The keys by which this machine shows itself to others.
    private static func hostKeys() -> [String] {
        // Without a server of ssh there is no such folder.
        guard let entries = try? Files.list("/etc/ssh") else { return [] }
        return entries.map(\.name).filter { $0.hasPrefix("ssh_host_") && $0.hasSuffix("_key") }.map { "/etc/ssh/\($0)" }
    }
}

/// One place as a command sees it.
struct Mount: Hashable {
    /// Later ones hide earlier ones at the same place.
    enum Kind: Int {
        /// Empty, to write in, gone afterwards.
        case scratch
        case readable
        case writable
        /// Writable as before, but it cannot be renamed, nor removed with what is guarded in it.
        case fixed
        /// Not to be changed.
        case guarded
        /// Empty, not to be written in.
        case hiddenFolder
        case hiddenFile
    }

    let kind: Kind
    let path: AbsolutePath
    /// What is shown there: the same path, unless a link leads to it.
    let source: AbsolutePath

    init(_ kind: Kind, _ path: AbsolutePath, from source: AbsolutePath? = nil) {
        (self.kind, self.path, self.source) = (kind, path, source ?? path)
    }

    /// The options of bubblewrap, which obeys them in their order: the outer ones first, since a later one covers all that
    /// is beneath it.
    static func options(_ mounts: [Mount]) -> [[UInt8]] {
        let sorted = mounts.sorted {
            ($0.path.names.count, $0.kind.rawValue) < ($1.path.names.count, $1.kind.rawValue)
        }
        // What is mounted beneath a hidden folder needs a name in it first.
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
