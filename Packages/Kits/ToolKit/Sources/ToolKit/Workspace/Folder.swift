import CToolKit
import FileKit
import Glibc

extension Folder {
    /// Opens a path if it is inside the folder. Links are followed if they stay inside too, or not at all.
    func open(_ path: EntryPath, to use: Use, followingLinks: Bool) throws(WorkspaceError) -> FileDescriptor {
        do throws(FolderError) {
            return try open(path.bytes, to: use, followingLinks: followingLinks, naming: path.shown)
        } catch {
            throw WorkspaceError(error.number, path)
        }
    }

    /// The status of a path, without following a link there.
    func status(_ path: EntryPath) throws(WorkspaceError) -> EntryStatus {
        try EntryStatus(of: open(path, to: .look, followingLinks: false))
    }

    /// The target of a link, as it is stored.
    func target(_ path: EntryPath) throws(WorkspaceError) -> EntryPath {
        let link = Folder(try open(path, to: .look, followingLinks: false), resolver: resolver)
        let target: [UInt8]?
        do throws(FolderError) { target = try link.linkTarget([]) } catch { throw WorkspaceError(error.number, path) }
        guard let target else { throw WorkspaceError(EINVAL, path) }
        return EntryPath(bytes: target)
    }

    /// Opens a folder from a listing, or this folder again.
    func folder(_ path: EntryPath) throws(WorkspaceError) -> FileDescriptor {
        try open(path, to: .list, followingLinks: false)
    }

    /// Opens a file from a listing. It is rejected if it has become something else.
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
            throw WorkspaceError(.notFile, "\(path.shown) is \(status.kind.words), not a regular file")
        }
    }
}

extension Folder {
    /// Files larger than this are not read as rules.
    private static let largestIgnoreFile = 1 << 20

    /// The rules of the folder at a path, on top of those of the folders above. Like git, this does not follow a link.
    func scope(at path: EntryPath, base: Int, within parent: IgnoreScope?) -> IgnoreScope? {
        scope(reading: path.appending(".gitignore".utf8), base: base, within: parent)
    }

    /// The rules of the repository that are not in its `.gitignore` files. They have the lowest precedence.
    func repositoryScope() -> IgnoreScope? {
        scope(reading: EntryPath(bytes: Array(".git/info/exclude".utf8)), base: 0, within: nil)
    }

    private func scope(reading path: EntryPath, base: Int, within parent: IgnoreScope?) -> IgnoreScope? {
        // If the file is missing, unreadable or not regular, there are no rules.
        guard let file = try? file(path), let text = try? file.readAll(limit: Self.largestIgnoreFile) else {
            return parent
        }
        let rules = IgnoreRule.parse(text)
        return rules.isEmpty ? parent : IgnoreScope(rules, base: base, within: parent)
    }
}

extension FileDescriptor {
    /// The whole file. Throws if it is larger than the limit.
    borrowing func readAll(limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let more = try read(upTo: 1 << 14)
            if more.isEmpty { return bytes }
            bytes += more
            guard bytes.count <= limit else {
                throw WorkspaceError(.system, "\(path) is larger than \(limit) bytes; read only a part")
            }
        }
    }
}
