import Capabilities
import FileKit
import Glibc

/// Guards files in a command's folder that other programs run or obey later, outside of a sandbox. The command can
/// write to the folder but not to these files. A name is guarded whether it exists or not.
///
/// In git repositories these are hooks and settings, the files that settings name, including the user's settings, and
/// the files that locate the repositories of submodules and linked worktrees.
final class GuardedNames: Sendable {
    /// How a name that does not exist is guarded.
    enum Absent {
        /// An empty placeholder takes the name.
        case stubs
        /// Nothing can be created in its folder.
        case sealed
    }

    let mounts: [Mount]
    /// Readable folders of a repository elsewhere, if the folder is its linked worktree or submodule.
    let shown: [String]
    /// Writable folders of that repository.
    let written: [String]
    private let stubs: [Stub]
    /// The folders where git writes, with the links that existed before.
    private let links: [(git: Folder, paths: Set<String>)]

    /// - Parameter location: the path of the folder.
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

    /// Removes new links. git would write through a link in place of its own files, such as COMMIT_EDITMSG or
    /// logs/HEAD.
    deinit {
        for (git, before) in links {
            for path in Self.links(in: git).subtracting(before) { Self.removeLink(path, in: git) }
        }
    }
}

// MARK: Links

extension GuardedNames {
    /// Folders where git does not follow links, because it renames files into place, or where no command can write.
    private static let unfollowed: Set = ["objects", "modules", "worktrees", "hooks"]

    private static func links(in git: Folder) -> Set<String> {
        var (found, waiting) = (Set<String>(), [""])
        while let folder = waiting.popLast() {
            // A removed repository has no links.
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
        // Another command may have replaced a folder by a link, which must not be followed.
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

    /// A path that settings name, and the settings file.
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

        /// Guards a name, whether it exists or not.
        @discardableResult
        mutating func add(
            _ name: String, _ form: Stub.Form, in folder: Folder, at location: AbsolutePath
        ) throws(SandboxError) -> Found? {
            let path = location.appending(name)
            if let found = known[path] { return found }
            // Even if the name exists: it may be the stub of another command, and must stay until this command ends.
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

        /// Prevents renaming of a folder, which would move guarded files out of their guarded place.
        private mutating func fix(_ path: AbsolutePath) {
            if !mounts.contains(Mount(.fixed, path)) { mounts.append(Mount(.fixed, path)) }
        }

        /// Guards a path that settings name, if it is in the folder.
        private mutating func add(_ named: Named) throws(SandboxError) {
            guard let names = names(of: named.path) else { return }
            guard let last = names.last else { throw SandboxError.settings(named.file) }
            guard let (above, place) = try enter(names.dropLast()) else { return }
            try add(String(decoding: last, as: UTF8.self), .folder, in: above, at: place)
        }

        /// The names below the folder; nil for a path elsewhere.
        private func names(of path: String) -> ArraySlice<[UInt8]>? {
            // The literal path first: a link in the folder could be replaced, and is rejected later.
            if let names = AbsolutePath(path).names(beneath: location) { return names }
            // A path that cannot be resolved is not in the folder.
            guard let place = try? Files.place(path) else { return nil }
            return AbsolutePath(place).names(beneath: location)
        }

        /// Opens a subfolder, and fixes it and its parents. Nil if it does not exist, in which case its name is
        /// guarded, or if it is guarded already.
        private mutating func enter(
            _ names: ArraySlice<[UInt8]>
        ) throws(SandboxError) -> (folder: Folder, place: AbsolutePath)? {
            var (above, place) = (folder, location)
            for name in names {
                let text = String(decoding: name, as: UTF8.self)
                let next = place.appending(text)
                if mounts.contains(Mount(.guarded, next)) { return nil }
                guard try look(text, in: above, at: next) == .folder else {
                    // A missing folder cannot be created then either.
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
                throw SandboxError(.folder, "cannot run commands here: cannot check \(path.text) to guard it")
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
                    .folder, "cannot run commands here: cannot open \(name), whose files must be guarded")
            }
        }
    }
}

// MARK: Git

extension GuardedNames.Finder {
    /// How deep git follows included files.
    private static let deepestSettings = 10
    private static let mostSettings = 500

    /// Guards git settings files and the files that they include, if they are in the folder.
    ///
    /// - Returns: the hook folders that they name.
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

    /// A path as git expands it; nil if it is relative to git's installation or the home is unknown.
    private func expanded(_ path: String?, _ file: String) throws(SandboxError) -> String? {
        guard let path, !path.hasPrefix("%(prefix)/") else { return nil }
        guard path.hasPrefix("~") else { return path }
        // Homes of other users are not supported.
        guard path == "~" || path.hasPrefix("~/") else { throw SandboxError.settings(file) }
        return sandbox.home.map { $0 + path.dropFirst() }
    }

    /// Guards the repository that the folder belongs to, and its checkouts in the folder.
    ///
    /// - Parameter shared: the hook folders that the user's settings name, for every checkout.
    mutating func addGit(_ shared: [GuardedNames.Named]) throws(SandboxError) {
        let place = location.appending(GitRepository.name)
        // git ignores an empty .git folder, so a repository above the folder still works.
        let found = try add(GitRepository.name, .folder, in: folder, at: location)
        if found == .folder { try addRepository(in: try Self.open(GitRepository.name, in: folder), at: place) }
        var repository = try GitRepository(of: location)
        if let repository, found == .other { try addNamed(repository) }
        // A folder with this file and a few others is itself a repository.
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

    /// Makes a repository writable, except for files that make git run other programs.
    ///
    /// - Returns: whether it is a repository.
    @discardableResult
    private mutating func addRepository(in git: Folder, at location: AbsolutePath) throws(SandboxError) -> Bool {
        guard try look("HEAD", in: git, at: location.appending("HEAD")) == .other else { return false }
        mounts.removeAll { $0.path == location }
        fix(location)
        repositories.append(git)
        try add("hooks", .folder, in: git, at: location)
        try add("config", .file(""), in: git, at: location)
        try add("config.worktree", .file(""), in: git, at: location)
        // It names the folder with the settings and hooks: this folder.
        try add("commondir", .file(".\n"), in: git, at: location)
        try add("modules", .folder, in: git, at: location)
        try add("worktrees", .folder, in: git, at: location)
        return true
    }

    /// Guards another checkout in the folder: its `.git` is a repository or names one.
    private mutating func addCheckout(at top: AbsolutePath) throws(SandboxError) {
        guard let names = top.names(beneath: location), !names.isEmpty, let (folder, place) = try enter(names) else {
            return
        }
        guard try add(GitRepository.name, .folder, in: folder, at: place) == .folder else { return }
        try addRepository(in: try Self.open(GitRepository.name, in: folder), at: place.appending(GitRepository.name))
    }

    /// Guards the repository that a `.git` file in the folder names.
    private mutating func addNamed(_ repository: GitRepository) throws(SandboxError) {
        if let names = names(of: repository.path) {
            guard let (git, place) = try enter(names) else { return }
            try addRepository(in: git, at: place)
        } else if repository.isBound, !sandbox.hides(repository.own), !sandbox.hides(repository.common) {
            try addElsewhere(repository)
        }
    }

    /// Guards a repository elsewhere. git works with it as with a repository in the folder.
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
        // These name the folder with the settings and hooks, and this checkout.
        for name in ["commondir", "gitdir"] { try add(name, .file(""), in: git, at: own) }
        try add("config.worktree", .file(""), in: git, at: own)
        try add("modules", .folder, in: git, at: own)
        for name in ["objects", "refs", "logs"] {
            let place = common.appending(name)
            // The target of a link may belong to anything.
            guard let info = try? Files.info(place.text, followLinks: false), info.kind == .directory else { continue }
            written.append(place.text)
            // git follows links when it writes logs, but not objects or refs.
            if name == "logs" { repositories.append(try Self.open(place)) }
        }
    }

    private static func open(_ path: AbsolutePath) throws(SandboxError) -> Folder {
        let opened = unsafe Glibc.open(path.text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else {
            throw SandboxError(
                .folder,
                "cannot run commands here: cannot open \(PlainText.escape(path.text)), whose files must be guarded")
        }
        return Folder(FileDescriptor(owning: opened, path: path.text))
    }
}
