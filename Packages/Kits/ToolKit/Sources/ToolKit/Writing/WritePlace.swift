import FileKit
import Glibc
import SandboxKit

/// The place of an existing or new file: an open folder, and a name in it that is not a link.
///
/// From here on no path is looked up any more. Renaming folders, or replacing files by links, can prevent the write but
/// cannot redirect it.
struct WritePlace: Sendable {
    let folder: Folder
    let name: [UInt8]
    /// The requested path.
    let path: EntryPath

    /// Follows links if they stay inside. The file that they lead to is written, and the links stay.
    init(_ path: EntryPath, in workspace: Workspace) throws(WorkspaceError) {
        var current = path
        for _ in 0..<40 {
            let name = Array(current.bytes.dropFirst(current.nameStart))
            guard !current.isAbsolute else { throw WorkspaceError(EXDEV, current) }
            guard !name.isEmpty, name != [Byte.dot], name != [Byte.dot, Byte.dot] else {
                throw WorkspaceError(.notFile, "\(path.shown) is a folder path; use the path of a file")
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
            // Relative to the folder with the link. An absolute target is rejected above.
            current = target.isAbsolute ? target : EntryPath(bytes: above.bytes + target.bytes)
        }
        throw WorkspaceError(ELOOP, path)
    }

    var terminatedName: [UInt8] { name + [0] }

    /// The status of the existing file; nil if there is none.
    func status() throws(WorkspaceError) -> EntryStatus? {
        try folder.entry(name, path)
    }
}

extension WritePlace {
    /// Opens the file for reading.
    func open() throws(WorkspaceError) -> FileDescriptor {
        do throws(FolderError) {
            return try folder.openEntry(name, to: .read, naming: path.shown)
        } catch {
            throw WorkspaceError(error.number, path)
        }
    }

    func entry() throws(WorkspaceError) -> Workspace.Entry? {
        var status = stat()
        let name = terminatedName.map(CChar.init(bitPattern:))
        guard unsafe fstatat(folder.descriptor.rawValue, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw WorkspaceError(errno, path)
        }
        return Workspace.Entry(path, status)
    }
}

extension Folder {
    /// The status of a name in this folder, without following a link; nil if it does not exist.
    func entry(_ name: [UInt8], _ path: EntryPath) throws(WorkspaceError) -> EntryStatus? {
        var status = stat()
        let terminated = (name + [0]).map(CChar.init(bitPattern:))
        guard unsafe fstatat(descriptor.rawValue, terminated, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw WorkspaceError(errno, path)
        }
        return EntryStatus(status)
    }

    /// The target of a link in this folder; nil if there is no such link.
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
        // Also by the requested name, because a link with that name could be changed.
        try Self.requireOrdinary(path.parts, path)
    }

    /// Rejects files that belong to git or contain settings of tools. They name programs to run, so writing them would
    /// allow running commands.
    ///
    /// - Parameter parts: the names relative to the workspace.
    static func requireOrdinary(_ parts: [ArraySlice<UInt8>], _ path: EntryPath) throws(WorkspaceError) {
        // Some file systems ignore case.
        let names = parts.map { String(decoding: $0, as: UTF8.self).lowercased() }
        if names.contains(".git") {
            throw WorkspaceError(.denied, "\(path.shown) belongs to git; use git commands to change it")
        }
        if let name = Sandbox.guardedNames.first(where: { names.first == $0 }) {
            throw WorkspaceError(.denied, "other programs obey \(name); ask the user to change it")
        }
    }
}
