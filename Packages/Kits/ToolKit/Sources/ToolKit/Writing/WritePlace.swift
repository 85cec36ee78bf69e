import FileKit
import Glibc
import SandboxKit

/// Where a file is, or is going to be: a folder that is open, and a name in it that is no link.
///
/// From here on nothing is looked up by a path any more. Whoever renames folders, or puts links where files were, can
/// keep a file from being written, and cannot have it written elsewhere.
struct WritePlace: Sendable {
    let folder: Folder
    let name: [UInt8]
    /// How somebody asked for it.
    let path: EntryPath

    /// Follows links as far as they stay inside: what is written is the file that they lead to, and they stay links.
    init(_ path: EntryPath, in workspace: Workspace) throws(WorkspaceError) {
        var current = path
        for _ in 0..<40 {
            let name = Array(current.bytes.dropFirst(current.nameStart))
            guard !current.isAbsolute else { throw WorkspaceError(EXDEV, current) }
            guard !name.isEmpty, name != [Byte.dot], name != [Byte.dot, Byte.dot] else {
                throw WorkspaceError(.notFile, "\(path.shown) names a folder; give the path of a file")
            }
            let above = EntryPath(bytes: Array(current.bytes.prefix(current.nameStart)))
            let folder = Folder(
                try workspace.root.open(above, to: .list, followingLinks: true),
                resolver: workspace.root.resolver)
            guard let target = try folder.linkTarget(name, path) else {
                try workspace.requireOrdinary(folder, name, path)
                try workspace.requireAllowed(path, at: folder.location + [Byte.slash] + name, isWriting: true)
                (self.folder, self.name, self.path) = (folder, name, path)
                return
            }
            // Beneath the folder that the link is in; one that is absolute is refused above.
            current = target.isAbsolute ? target : EntryPath(bytes: above.bytes + target.bytes)
        }
        throw WorkspaceError(ELOOP, path)
    }

    var terminatedName: [UInt8] { name + [0] }

    /// What is there now; nil where nothing is.
    func status() throws(WorkspaceError) -> EntryStatus? {
        try folder.entry(name, path)
    }
}

extension WritePlace {
    /// Opens the file to read it.
    func open() throws(WorkspaceError) -> FileDescriptor {
        do throws(FolderError) {
            return try folder.openEntry(name, to: .read, naming: path.shown)
        } catch {
            throw WorkspaceError(error.number, path)
        }
    }
}

extension Folder {
    /// What a name in this folder stands for, without following a link; nil where there is none.
    func entry(_ name: [UInt8], _ path: EntryPath) throws(WorkspaceError) -> EntryStatus? {
        var status = stat()
        let terminated = (name + [0]).map(CChar.init(bitPattern:))
        guard unsafe fstatat(descriptor.rawValue, terminated, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw WorkspaceError(errno, path)
        }
        return EntryStatus(status)
    }

    /// Where a link in this folder leads to; nil where there is none of that name.
    fileprivate func linkTarget(_ name: [UInt8], _ path: EntryPath) throws(WorkspaceError) -> EntryPath? {
        do throws(FolderError) {
            return try linkTarget(name).map(EntryPath.init(bytes:))
        } catch {
            if error.number == ENOENT { return nil }
            throw WorkspaceError(error.number, path)
        }
    }
}

extension Workspace {
    fileprivate func requireOrdinary(_ folder: Folder, _ name: [UInt8], _ path: EntryPath) throws(WorkspaceError) {
        let above = EntryPath(bytes: root.location).parts.count
        try Self.requireOrdinary(Array(EntryPath(bytes: folder.location).parts.dropFirst(above)) + [name[...]], path)
        // Also by the name that was given, since a link of that name could be made to lead elsewhere.
        try Self.requireOrdinary(path.parts, path)
    }

    /// Refuses what belongs to git or holds settings of tools: they name programs that are run, so that whoever may write
    /// files could run commands.
    ///
    /// - Parameter parts: the names from the workspace on.
    static func requireOrdinary(_ parts: [ArraySlice<UInt8>], _ path: EntryPath) throws(WorkspaceError) {
        // Some file systems make no difference between capital and small letters.
        let names = parts.map { String(decoding: $0, as: UTF8.self).lowercased() }
        if names.contains(".git") {
            throw WorkspaceError(.denied, "\(path.shown) belongs to git; change it by git's own commands")
        }
        if let name = Sandbox.guardedNames.first(where: { names.first == $0 }) {
            throw WorkspaceError(.denied, "other programs obey what \(name) holds; let the person change it")
        }
    }
}
