import Capabilities
import FileKit
import Glibc

/// What a command may not change in its folder although it may write there: what other programs run or obey later, when
/// no sandbox is around them. It is guarded whether it is there or not.
final class GuardedNames: Sendable {
    private static let repository = ".git"

    let mounts: [Mount]
    private let stubs: [Stub]

    /// - Parameter location: where the folder is.
    init(in folder: Folder, at location: AbsolutePath) throws(SandboxError) {
        var finder = Finder()
        for name in Sandbox.guardedNames { try finder.add(name, .folder, in: folder, at: location) }
        // A repository further up may go on being used: git does not take an empty folder for one.
        let git = try finder.add(Self.repository, .folder, in: folder, at: location)
        if git == .folder {
            try finder.addRepository(
                in: try Self.open(Self.repository, in: folder), at: location.appending(Self.repository))
            try finder.addHooks(named: try Self.hooksPath(in: folder), at: location)
        }
        (mounts, stubs) = (finder.mounts, finder.stubs)
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
        var mounts: [Mount] = []
        var stubs: [Stub] = []

        /// Guards a name; a stub takes its place where there is nothing.
        @discardableResult
        mutating func add(
            _ name: String, _ form: Stub.Form, in folder: Folder, at location: AbsolutePath
        ) throws(SandboxError) -> Found? {
            let path = location.appending(name)
            let found = try look(name, in: folder, at: path)
            // Also where it is there: it may be the stub of another command, and must not go before this one ends.
            let stub = Stub(name, form, in: folder)
            if let stub { stubs.append(stub) }
            if found != nil || stub != nil { mounts.append(Mount(.guarded, path)) }
            return found
        }

        /// A repository is written in, but for what has git run other programs.
        mutating func addRepository(in git: Folder, at location: AbsolutePath) throws(SandboxError) {
            guard try look("HEAD", in: git, at: location.appending("HEAD")) != nil else { return }
            mounts.removeAll { $0.path == location }
            mounts.append(Mount(.fixed, location))
            try add("hooks", .folder, in: git, at: location)
            try add("config", .file(""), in: git, at: location)
            try add("config.worktree", .file(""), in: git, at: location)
            // It names the folder with the settings and hooks: this one.
            try add("commondir", .file(".\n"), in: git, at: location)
            try add("modules", .folder, in: git, at: location)
            try add("worktrees", .folder, in: git, at: location)
        }

        /// The hooks that the repository's settings name, where they are in the folder.
        mutating func addHooks(named path: String?, at location: AbsolutePath) throws(SandboxError) {
            guard let path, !path.hasPrefix("~") else { return }
            let hooks = AbsolutePath.isAbsolute(path) ? AbsolutePath(path) : location.appending(path)
            guard let names = hooks.names(beneath: location) else { return }
            var place = location
            for name in names {
                place = AbsolutePath(bytes: place.bytes + "/".bytes + name)
                // What is not there yet is no hook that anybody has set up.
                guard let info = try? Files.info(place.text, followLinks: false) else { return }
                if info.kind == .symbolicLink { throw SandboxError.link(place) }
                mounts.append(Mount(place == hooks ? .guarded : .fixed, place))
            }
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
    /// The folder with the hooks, as the settings of the repository in a folder name it.
    private static func hooksPath(in folder: Folder) throws(SandboxError) -> String? {
        let bytes: [UInt8]
        do {
            let file = try folder.open("\(repository)/config".bytes, to: .read, followingLinks: false, naming: "config")
            bytes = try file.read(upTo: 1 << 20)
        } catch {
            // A repository without settings names none; what cannot be read here git cannot read either.
            return nil
        }
        return hooksPath(inSettings: String(decoding: bytes, as: UTF8.self))
    }

    /// The last `core.hooksPath`, read as git does but for values over several lines.
    static func hooksPath(inSettings text: String) -> String? {
        var isCore = false
        var path: String?
        for line in text.split(whereSeparator: \.isNewline) {
            var rest = line.drop(while: \.isWhitespace)
            if rest.first == "[" {
                isCore = rest.dropFirst().prefix { $0 != "]" }.lowercased() == "core"
                rest = rest.drop { $0 != "]" }.dropFirst().drop(while: \.isWhitespace)
            }
            guard isCore, let equals = rest.firstIndex(of: "=") else { continue }
            let name = rest[..<equals].filter { !$0.isWhitespace }.lowercased()
            guard name == "hookspath" else { continue }
            let value = rest[equals...].dropFirst().drop(while: \.isWhitespace)
            let isQuoted = value.first == "\""
            let end = value.dropFirst().firstIndex { isQuoted ? $0 == "\"" : $0 == "#" || $0 == ";" } ?? value.endIndex
            var word = String((isQuoted ? value.dropFirst() : value)[..<end])
            while !isQuoted, word.last?.isWhitespace == true { word.removeLast() }
            path = word.isEmpty ? nil : word
        }
        return path
    }
}
