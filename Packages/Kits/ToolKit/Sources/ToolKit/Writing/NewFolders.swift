import CToolKit
import FileKit
import Glibc

/// Folders that were created for files. If the files cannot be written, the empty ones are removed again.
final class NewFolders {
    private var made: [(above: Folder, name: [UInt8])] = []

    /// Throws unless a file could be created after creating folders. All missing parts must be plain names.
    static func check(_ path: EntryPath, in workspace: Workspace) throws(WorkspaceError) {
        let parts = path.parts
        guard !path.isAbsolute else { throw WorkspaceError(EXDEV, path) }
        for count in stride(from: parts.count - 1, through: 0, by: -1) {
            let above = Self.path(parts.prefix(count))
            do throws(WorkspaceError) {
                _ = try workspace.root.open(above, to: .list, followingLinks: true)
            } catch {
                guard error.kind == .notFound else { throw error }
                continue
            }
            let missing = parts[count...]
            guard !missing.contains(where: { $0.elementsEqual([Byte.dot, Byte.dot]) }) else {
                throw WorkspaceError(
                    .notFound,
                    "\(Self.path(parts.prefix(count + 1)).shown) does not exist, so the .. after it is invalid;"
                        + " use the path without it")
            }
            try Workspace.requireOrdinary(parts, path)
            try workspace.requireAllowed(path, at: workspace.root.location + [Byte.slash] + path.bytes, isWriting: true)
            guard path.bytes.last != Byte.slash else {
                throw WorkspaceError(.notFile, "\(path.shown) is a folder path; use the path of a file")
            }
            return
        }
    }

    /// Creates the missing folders above a file.
    func make(for path: EntryPath, in workspace: Workspace) throws(WorkspaceError) {
        let parts = path.parts
        var above = Folder(
            try workspace.root.open(.here, to: .list, followingLinks: true), resolver: workspace.root.resolver)
        for count in 1..<max(1, parts.count) {
            let current = Self.path(parts.prefix(count))
            let name = Array(parts[count - 1])
            // If the folder exists or another program creates it first, it must be a folder inside all the same.
            if unsafe mkdirat(above.descriptor.rawValue, (name + [0]).map(CChar.init(bitPattern:)), 0o777) == 0 {
                made.append((above, name))
            } else if errno != EEXIST {
                throw WorkspaceError(writing: current, errno)
            }
            above = Folder(
                try workspace.root.open(current, to: .list, followingLinks: true),
                resolver: workspace.root.resolver)
        }
    }

    func removeEmpty() {
        for (above, name) in made.reversed() {
            // A folder that another program uses by now is not empty and stays.
            _ = unsafe unlinkat(
                above.descriptor.rawValue, (name + [0]).map(CChar.init(bitPattern:)), AT_REMOVEDIR)
        }
    }

    private static func path(_ parts: some Sequence<ArraySlice<UInt8>>) -> EntryPath {
        EntryPath(bytes: Array(Array(parts).joined(separator: [Byte.slash])))
    }
}
