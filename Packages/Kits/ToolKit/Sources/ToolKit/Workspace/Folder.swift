import CToolKit
import FileKit
import Glibc

extension Folder {
    /// Opens what is at the path, if it is inside; links are followed as far as they stay inside too, or not at all.
    func open(_ path: EntryPath, to use: Use, followingLinks: Bool) throws(WorkspaceError) -> FileDescriptor {
        do throws(FolderError) {
            return try open(path.bytes, to: use, followingLinks: followingLinks, naming: path.shown)
        } catch {
            throw WorkspaceError(error.number, path)
        }
    }

    /// What is at the path, without following a link there.
    func status(_ path: EntryPath) throws(WorkspaceError) -> EntryStatus {
        try EntryStatus(of: open(path, to: .look, followingLinks: false))
    }

    /// Where a link leads to, as it is written there.
    func target(_ path: EntryPath) throws(WorkspaceError) -> EntryPath {
        let link = Folder(try open(path, to: .look, followingLinks: false), resolver: resolver)
        let target: [UInt8]?
        do throws(FolderError) { target = try link.linkTarget([]) } catch { throw WorkspaceError(error.number, path) }
        guard let target else { throw WorkspaceError(EINVAL, path) }
        return EntryPath(bytes: target)
    }

    /// A folder found in a listing, or this one again.
    func folder(_ path: EntryPath) throws(WorkspaceError) -> FileDescriptor {
        try open(path, to: .list, followingLinks: false)
    }

    /// A file found in a listing; what has become something else since is refused.
    func file(_ path: EntryPath) throws(WorkspaceError) -> FileDescriptor {
        let file = try open(path, to: .read, followingLinks: false)
        try Self.requireRegular(EntryStatus(of: file), path)
        return file
    }

    static func requireRegular(_ status: EntryStatus, _ path: EntryPath) throws(WorkspaceError) {
        switch status.kind {
        case .regular: return
        case .directory: throw WorkspaceError(EISDIR, path)
        default:
            throw WorkspaceError(.notFile, "\(path.shown) is \(status.kind.words); only regular files can be read")
        }
    }
}

extension Folder {
    /// A larger file of rules is no file of rules.
    private static let largestIgnoreFile = 1 << 20

    /// The rules of the folder at a path, within those of the folders above. A link is not followed: git does not either.
    func scope(at path: EntryPath, base: Int, within parent: IgnoreScope?) -> IgnoreScope? {
        scope(reading: path.appending(".gitignore".utf8), base: base, within: parent)
    }

    /// The rules that a repository has beside those in its files, which come last.
    func repositoryScope() -> IgnoreScope? {
        scope(reading: EntryPath(bytes: Array(".git/info/exclude".utf8)), base: 0, within: nil)
    }

    private func scope(reading path: EntryPath, base: Int, within parent: IgnoreScope?) -> IgnoreScope? {
        // No such file, no right to read it, no regular file: then there are no rules.
        guard let file = try? file(path), let text = try? file.readAll(limit: Self.largestIgnoreFile) else {
            return parent
        }
        let rules = IgnoreRule.parse(text)
        return rules.isEmpty ? parent : IgnoreScope(rules, base: base, within: parent)
    }
}

extension FileDescriptor {
    /// All of a file, which is refused when it is larger.
    borrowing func readAll(limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let more = try read(upTo: 1 << 14)
            if more.isEmpty { return bytes }
            bytes += more
            guard bytes.count <= limit else {
                throw WorkspaceError(.system, "\(path) is larger than \(limit) bytes; read a part of it")
            }
        }
    }
}
