import Capabilities
import FileKit
import Glibc

/// What a command may not change in its folder although it may write there: what other programs run or obey later, when
/// no sandbox is around them. It is guarded whether it is there or not.
///
/// Of git that is what a repository has it run: hooks and settings, with what these name, those of the person too, and the
/// files that say where the repositories of submodules and linked worktrees are.
final class GuardedNames: Sendable {
    /// How a name is kept that nothing has.
    enum Absent {
        /// Something empty takes it.
        case stubs
        /// Nothing is made in its folder.
        case sealed
    }

    let mounts: [Mount]
    /// A repository elsewhere to which the folder belongs as a linked worktree or a submodule: what is to be seen of it.
    let shown: [String]
    /// What is to be written of it.
    let written: [String]
    private let stubs: [Stub]
    /// Where git writes, with the links that were there before.
    private let links: [(git: Folder, paths: Set<String>)]

    /// - Parameter location: where the folder is.
    init(
        in folder: Folder, at location: AbsolutePath, for sandbox: Sandbox, absent: Absent
    ) throws(SandboxError) {
        var finder = Finder(folder: folder, location: location, sandbox: sandbox, absent: absent)
        for name in Sandbox.guardedNames { try finder.add(name, .folder, in: folder, at: location) }
        let hooks = try finder.addSettings(sandbox.settingsOfGit)
        try finder.addGit(hooks)
        // A writable mount inside a guarded one would open it again.
        let guarded = finder.mounts.filter { $0.kind == .guarded }.map(\.path)
        mounts = finder.mounts.filter { mount in mount.kind == .guarded || !guarded.contains(where: mount.path.lies) }
        (stubs, shown, written) = (finder.stubs, finder.shown, finder.written)
        links = finder.repositories.map { ($0, Self.links(in: $0)) }
    }

    /// git writes through links that it finds in the place of its own files, such as COMMIT_EDITMSG and logs/HEAD.
    deinit {
        for (git, before) in links {
            for path in Self.links(in: git).subtracting(before) { Self.removeLink(path, in: git) }
        }
    }
}

// MARK: Links

extension GuardedNames {
    /// Where git puts its files under new names and moves them, which follows no link, or where no command writes.
    private static let unfollowed: Set = ["objects", "modules", "worktrees", "hooks"]

    private static func links(in git: Folder) -> Set<String> {
        var (found, waiting) = (Set<String>(), [""])
        while let folder = waiting.popLast() {
            // A repository that is gone has none.
            guard let entries = try? Files.list("/proc/self/fd/\(git.descriptor.rawValue)/\(folder)") else { continue }
            for entry in entries {
                switch entry.kind {
                case .symbolicLink: found.insert(folder + entry.name)
                case .directory where !folder.isEmpty || !unfollowed.contains(entry.name):
                    waiting.append("\(folder)\(entry.name)/")
                default: continue
                }
            }
        }
        return found
    }

    private static func removeLink(_ path: String, in git: Folder) {
        let names = path.split(separator: "/")
        let above = names.dropLast().joined(separator: "/")
        // Another command may have put a link in the place of a folder meanwhile, and it is not followed.
        guard let name = names.last,
            let folder = try? git.open(above.bytes, to: .list, followingLinks: false, naming: path)
        else { return }
        var status = stat()
        guard unsafe fstatat(folder.rawValue, String(name), &status, AT_SYMLINK_NOFOLLOW) == 0,
            status.st_mode & S_IFMT == S_IFLNK
        else { return }
        _ = unsafe unlinkat(folder.rawValue, String(name), 0)
    }
}

// MARK: Finding

extension GuardedNames {
    fileprivate enum Found {
        case folder
        case other
    }

    /// Something that settings name, and the file that does.
    fileprivate struct Named {
        let path: String
        let file: String
    }

    fileprivate struct Finder {
        let folder: Folder
        let location: AbsolutePath
        let sandbox: Sandbox
        let absent: Absent
        var mounts: [Mount] = []
        var stubs: [Stub] = []
        var repositories: [Folder] = []
        var shown: [String] = []
        var written: [String] = []
        var known: [AbsolutePath: Found?] = [:]

        /// Guards a name, whether something has it or not.
        @discardableResult
        mutating func add(
            _ name: String, _ form: Stub.Form, in folder: Folder, at location: AbsolutePath
        ) throws(SandboxError) -> Found? {
            let path = location.appending(name)
            if let found = known[path] { return found }
            // Also where it is there: it may be the stub of another command, and must not go before this one ends.
            if case .stubs = absent, let stub = try Stub(name, form, in: folder) { stubs.append(stub) }
            let found = try look(name, in: folder, at: path)
            if found != nil {
                mounts.append(Mount(.guarded, path))
            } else if case .sealed = absent {
                fix(location)
            }
            known.updateValue(found, forKey: path)
            return found
        }

        /// Keeps a folder from being renamed, which would take what is guarded in it to where nobody looks for it.
        private mutating func fix(_ path: AbsolutePath) {
            if !mounts.contains(Mount(.fixed, path)) { mounts.append(Mount(.fixed, path)) }
        }

        /// Something that settings name, where it is in the folder or could be made in it.
        private mutating func add(_ named: Named) throws(SandboxError) {
            guard let names = names(of: named.path) else { return }
            guard let last = names.last else { throw SandboxError.settings(named.file) }
            guard let (above, place) = try enter(names.dropLast()) else { return }
            try add(String(decoding: last, as: UTF8.self), .folder, in: above, at: place)
        }

        /// The names from the folder on; nil for what lies elsewhere.
        private func names(of path: String) -> ArraySlice<[UInt8]>? {
            // As it is written first: a link on the way in the folder could be replaced, and is refused.
            if let names = AbsolutePath(path).names(beneath: location) { return names }
            // What cannot be looked at is not in the folder.
            guard let place = try? Files.place(path) else { return nil }
            return AbsolutePath(place).names(beneath: location)
        }

        /// Opens a folder in the folder, and fixes it and those on the way. Nil where it is not there, and is kept so, or where
        /// nothing in it can be changed anyway.
        private mutating func enter(
            _ names: ArraySlice<[UInt8]>
        ) throws(SandboxError) -> (folder: Folder, place: AbsolutePath)? {
            var (above, place) = (folder, location)
            for name in names {
                let text = String(decoding: name, as: UTF8.self)
                let next = place.appending(text)
                if mounts.contains(Mount(.guarded, next)) { return nil }
                guard try look(text, in: above, at: next) == .folder else {
                    // What is not there cannot be made then either.
                    try add(text, .folder, in: above, at: place)
                    return nil
                }
                fix(next)
                (above, place) = (try Self.open(text, in: above), next)
            }
            return (above, place)
        }

        private func look(
            _ name: String, in folder: Folder, at path: AbsolutePath
        ) throws(SandboxError) -> Found? {
            var status = stat()
            guard unsafe fstatat(folder.descriptor.rawValue, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                if errno == ENOENT { return nil }
                throw SandboxError(.folder, "commands are not run here: \(path.text) cannot be looked at to guard it")
            }
            switch status.st_mode & S_IFMT {
            case S_IFLNK: throw SandboxError.link(path)
            case S_IFDIR: return .folder
            default: return .other
            }
        }

        private static func open(_ name: String, in folder: Folder) throws(SandboxError) -> Folder {
            do throws(FolderError) {
                return Folder(try folder.open(name.bytes, to: .list, followingLinks: false, naming: name))
            } catch {
                throw SandboxError(
                    .folder, "commands are not run here: \(name) cannot be opened to guard what is in it")
            }
        }
    }
}

// MARK: Git

extension GuardedNames.Finder {
    /// How deep git itself follows files that name others.
    private static let deepestSettings = 10
    private static let mostSettings = 500

    /// Files with settings of git and those that they include: each is guarded, where it is in the folder.
    ///
    /// - Returns: the folders with hooks that they name.
    mutating func addSettings(_ files: [String]) throws(SandboxError) -> [GuardedNames.Named] {
        var hooks: [GuardedNames.Named] = []
        var seen: Set<String> = []
        var waiting = files.map { (file: $0, depth: 0) }
        while let (file, depth) = waiting.popLast() {
            guard depth <= Self.deepestSettings, seen.insert(file).inserted else { continue }
            guard seen.count <= Self.mostSettings else { throw SandboxError.settings(file) }
            try add(GuardedNames.Named(path: file, file: file))
            let settings = try GitSettings.read(file)
            if let path = try expanded(settings.hooks, file) {
                hooks.append(GuardedNames.Named(path: path, file: file))
            }
            let folder = AbsolutePath(file).folder.text
            for path in settings.included {
                guard let path = try expanded(path, file) else { continue }
                waiting.append((AbsolutePath.joined(path, in: folder), depth + 1))
            }
        }
        return hooks
    }

    /// A path as git takes it; nil for what is in no home, or where git is installed.
    private func expanded(_ path: String?, _ file: String) throws(SandboxError) -> String? {
        guard let path, !path.hasPrefix("%(prefix)/") else { return nil }
        guard path.hasPrefix("~") else { return path }
        // The homes of others are not looked up.
        guard path == "~" || path.hasPrefix("~/") else { throw SandboxError.settings(file) }
        return sandbox.home.map { $0 + path.dropFirst() }
    }

    /// The repository to which the folder belongs, and the checkouts in the folder that belong to it.
    ///
    /// - Parameter shared: the folders with hooks that the person's own settings name, for every checkout.
    mutating func addGit(_ shared: [GuardedNames.Named]) throws(SandboxError) {
        let place = location.appending(GitRepository.name)
        // A repository further up may go on being used: git does not take an empty folder for one.
        let found = try add(GitRepository.name, .folder, in: folder, at: location)
        if found == .folder { try addRepository(in: try Self.open(GitRepository.name, in: folder), at: place) }
        var repository = try GitRepository(of: location)
        if let repository, found == .other { try addNamed(repository) }
        // A folder is a repository itself where this and the like are in it.
        if try addRepository(in: folder, at: location) {
            repository = repository ?? GitRepository(bare: location)
        } else {
            try add("HEAD", .folder, in: folder, at: location)
        }
        if repository == nil { repository = try GitRepository(above: location) }
        guard let repository else { return try addHooks(shared, of: location) }
        try addHooks(shared, of: repository.top)
        let own = try addSettings(repository.settings)
        try addHooks(own, of: repository.top)
        for checkout in try repository.checkouts() {
            try addCheckout(at: checkout.top)
            try addHooks(shared, of: checkout.top)
            let own = try addSettings(checkout.settings)
            try addHooks(own, of: checkout.top)
        }
    }

    private mutating func addHooks(_ hooks: [GuardedNames.Named], of top: AbsolutePath) throws(SandboxError) {
        for named in hooks {
            try add(GuardedNames.Named(path: AbsolutePath.joined(named.path, in: top.text), file: named.file))
        }
    }

    /// A repository is written in, but for what has git run other programs.
    ///
    /// - Returns: whether it is one.
    @discardableResult
    private mutating func addRepository(in git: Folder, at location: AbsolutePath) throws(SandboxError) -> Bool {
        guard try look("HEAD", in: git, at: location.appending("HEAD")) == .other else { return false }
        mounts.removeAll { $0.path == location }
        fix(location)
        repositories.append(git)
        try add("hooks", .folder, in: git, at: location)
        try add("config", .file(""), in: git, at: location)
        try add("config.worktree", .file(""), in: git, at: location)
        // It names the folder with the settings and hooks: this one.
        try add("commondir", .file(".\n"), in: git, at: location)
        try add("modules", .folder, in: git, at: location)
        try add("worktrees", .folder, in: git, at: location)
        return true
    }

    /// Another checkout, if it is in the folder: its `.git` says where the repository is, or is one.
    private mutating func addCheckout(at top: AbsolutePath) throws(SandboxError) {
        guard let names = top.names(beneath: location), !names.isEmpty, let (folder, place) = try enter(names) else {
            return
        }
        guard try add(GitRepository.name, .folder, in: folder, at: place) == .folder else { return }
        try addRepository(in: try Self.open(GitRepository.name, in: folder), at: place.appending(GitRepository.name))
    }

    /// The repository that the folder's `.git` names, which is a file.
    private mutating func addNamed(_ repository: GitRepository) throws(SandboxError) {
        if let names = names(of: repository.path) {
            guard let (git, place) = try enter(names) else { return }
            try addRepository(in: git, at: place)
        } else if repository.isBound, !sandbox.hides(repository.own), !sandbox.hides(repository.common) {
            try addElsewhere(repository)
        }
    }

    /// A repository elsewhere to which the folder belongs: git works with it as it does with one in the folder.
    private mutating func addElsewhere(_ repository: GitRepository) throws(SandboxError) {
        let (own, common) = (repository.own, repository.common)
        let git = try Self.open(own)
        written.append(own.text)
        if own == common {
            try addRepository(in: git, at: own)
            return
        }
        repositories.append(git)
        shown.append(common.text)
        // They name the folder with the settings and hooks, and this checkout.
        for name in ["commondir", "gitdir"] { try add(name, .file(""), in: git, at: own) }
        try add("config.worktree", .file(""), in: git, at: own)
        try add("modules", .folder, in: git, at: own)
        for name in ["objects", "refs", "logs"] {
            let place = common.appending(name)
            // What a link leads to may be anybody's.
            guard let info = try? Files.info(place.text, followLinks: false), info.kind == .directory else { continue }
            written.append(place.text)
            // It writes through links nowhere else.
            if name == "logs" { repositories.append(try Self.open(place)) }
        }
    }

    private static func open(_ path: AbsolutePath) throws(SandboxError) -> Folder {
        let opened = unsafe Glibc.open(path.text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else {
            throw SandboxError(
                .folder,
                "commands are not run here: \(PlainText.escape(path.text)) cannot be opened to guard what is in it")
        }
        return Folder(FileDescriptor(owning: opened, path: path.text))
    }
}
