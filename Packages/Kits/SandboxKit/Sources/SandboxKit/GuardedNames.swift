import Capabilities
import FileKit
import Glibc

/// What a command may not change in its folder although it may write there: what other programs run or obey later, when
/// no sandbox is around them. It is guarded whether it is there or not.
final class GuardedNames: Sendable {
    /// How a name is kept that nothing has.
    enum Absent {
        /// Something empty takes it.
        case stubs
        /// Nothing is made in its folder.
        case sealed
    }

    private static let repository = ".git"

    let mounts: [Mount]
    private let stubs: [Stub]
    /// The links that were in the repository before.
    private let links: (git: Folder, names: Set<String>)?

    /// - Parameter location: where the folder is.
    init(in folder: Folder, at location: AbsolutePath, absent: Absent) throws(SandboxError) {
        var finder = Finder(absent: absent)
        var links: (git: Folder, names: Set<String>)?
        for name in Sandbox.guardedNames { try finder.add(name, .folder, in: folder, at: location) }
        // A repository further up may go on being used: git does not take an empty folder for one.
        if try finder.add(Self.repository, .folder, in: folder, at: location) == .folder {
            let git = try Self.open(Self.repository, in: folder)
            let place = location.appending(Self.repository)
            if try finder.addRepository(in: git, at: place) {
                links = (git, Self.links(in: git))
                let settings = try Self.settings(of: git)
                for path in settings.included { try finder.add(path: path, from: place, in: folder, at: location) }
                if let hooks = settings.hooks { try finder.add(path: hooks, from: location, in: folder, at: location) }
            }
        }
        // A folder is a repository itself where this and the like are in it.
        if try !finder.addRepository(in: folder, at: location) {
            try finder.add("HEAD", .folder, in: folder, at: location)
        }
        (mounts, stubs, self.links) = (finder.mounts, finder.stubs, links)
    }

    /// git writes through links that it finds in the place of its own files, such as COMMIT_EDITMSG.
    deinit {
        guard let (git, before) = links else { return }
        for name in Self.links(in: git).subtracting(before) { unsafe unlinkat(git.descriptor.rawValue, name, 0) }
    }

    private static func links(in git: Folder) -> Set<String> {
        let path = "/proc/self/fd/\(git.descriptor.rawValue)"
        // A repository that is gone has none.
        guard let entries = try? Files.list(path) else { return [] }
        return Set(entries.filter { $0.kind == .symbolicLink }.map(\.name))
    }

    private static func open(_ name: String, in folder: Folder) throws(SandboxError) -> Folder {
        do throws(FolderError) {
            return Folder(try folder.open(name.bytes, to: .list, followingLinks: false, naming: name))
        } catch {
            throw SandboxError(.folder, "commands are not run here: \(name) cannot be opened to guard what is in it")
        }
    }
}

extension GuardedNames {
    private enum Found {
        case folder
        case other
    }

    private struct Finder {
        let absent: Absent
        var mounts: [Mount] = []
        var stubs: [Stub] = []

        /// Guards a name, whether something has it or not.
        @discardableResult
        mutating func add(
            _ name: String, _ form: Stub.Form, in folder: Folder, at location: AbsolutePath
        ) throws(SandboxError) -> Found? {
            let path = location.appending(name)
            // Also where it is there: it may be the stub of another command, and must not go before this one ends.
            if case .stubs = absent, let stub = try Stub(name, form, in: folder) { stubs.append(stub) }
            let found = try look(name, in: folder, at: path)
            if found != nil {
                mounts.append(Mount(.guarded, path))
            } else if case .sealed = absent, !mounts.contains(Mount(.fixed, location)) {
                mounts.append(Mount(.fixed, location))
            }
            return found
        }

        /// A repository is written in, but for what has git run other programs.
        ///
        /// - Returns: whether it is one.
        mutating func addRepository(in git: Folder, at location: AbsolutePath) throws(SandboxError) -> Bool {
            guard try look("HEAD", in: git, at: location.appending("HEAD")) == .other else { return false }
            mounts.removeAll { $0.path == location }
            mounts.append(Mount(.fixed, location))
            try add("hooks", .folder, in: git, at: location)
            try add("config", .file(""), in: git, at: location)
            try add("config.worktree", .file(""), in: git, at: location)
            // It names the folder with the settings and hooks: this one.
            try add("commondir", .file(".\n"), in: git, at: location)
            try add("modules", .folder, in: git, at: location)
            try add("worktrees", .folder, in: git, at: location)
            return true
        }

        /// Something that the settings of the repository name, where it is in the folder or could be made in it.
        mutating func add(
            path: String, from start: AbsolutePath, in folder: Folder, at location: AbsolutePath
        ) throws(SandboxError) {
            // What is in the home is not in the folder.
            if path.hasPrefix("~") { return }
            let text = AbsolutePath.isAbsolute(path) ? path : start.appending(path).text
            // What cannot be looked at is not in the folder.
            guard let whole = try? Files.place(text), let names = AbsolutePath(whole).names(beneath: location) else {
                return
            }
            guard !names.isEmpty else { throw SandboxError.settings }
            var (above, place) = (folder, location)
            for name in names.dropLast() {
                let text = String(decoding: name, as: UTF8.self)
                place = place.appending(text)
                guard try look(text, in: above, at: place) == .folder else {
                    // What is not there cannot be made then either.
                    try add(text, .folder, in: above, at: place.folder)
                    return
                }
                if !mounts.contains(where: { $0.path == place }) { mounts.append(Mount(.fixed, place)) }
                above = try GuardedNames.open(text, in: above)
            }
            try add(String(decoding: names.last ?? [], as: UTF8.self), .folder, in: above, at: place)
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
    }
}

extension GuardedNames {
    /// What the settings of a repository name that has git run programs.
    struct Settings: Equatable {
        /// The folder with the hooks.
        var hooks: String?
        /// Files with more settings.
        var included: [String] = []
    }

    private static func settings(of git: Folder) throws(SandboxError) -> Settings {
        let bytes: [UInt8]
        do {
            let file = try git.open("config".bytes, to: .read, followingLinks: false, naming: "config")
            bytes = try file.read(upTo: 1 << 20)
        } catch {
            // A repository without settings names nothing; what cannot be read here git cannot read either.
            return Settings()
        }
        guard let settings = Settings(bytes) else { throw SandboxError.settings }
        return settings
    }
}

extension GuardedNames.Settings {
    /// Nil where a value is written in a way that only git understands, with marks in the middle or over several lines.
    init?(_ bytes: [UInt8]) {
        var section = ""
        for line in String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline) {
            var rest = line.drop(while: \.isWhitespace)
            if rest.first == "[" {
                section = rest.dropFirst().prefix { $0 != "]" }.lowercased()
                rest = rest.drop { $0 != "]" }.dropFirst().drop(while: \.isWhitespace)
            }
            guard let equals = rest.firstIndex(of: "=") else { continue }
            let isHooks: Bool
            switch (section, rest[..<equals].filter { !$0.isWhitespace }.lowercased()) {
            case ("core", "hookspath"): isHooks = true
            case (let name, "path") where name.hasPrefix("include"): isHooks = false
            default: continue
            }
            guard let value = Self.value(rest[equals...].dropFirst().drop(while: \.isWhitespace)) else { return nil }
            if isHooks { hooks = value.isEmpty ? nil : value } else { included.append(value) }
        }
    }

    /// Nil where it is not one plain or one quoted text.
    private static func value(_ text: Substring) -> String? {
        guard text.first == "\"" else {
            var word = text.prefix { $0 != "#" && $0 != ";" }
            while word.last?.isWhitespace == true { word.removeLast() }
            return word.contains("\"") || word.contains("\\") ? nil : String(word)
        }
        let parts = text.dropFirst().split(separator: "\"", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].contains("\\") else { return nil }
        let rest = parts[1].drop(while: \.isWhitespace)
        return rest.isEmpty || rest.first == "#" || rest.first == ";" ? String(parts[0]) : nil
    }
}
