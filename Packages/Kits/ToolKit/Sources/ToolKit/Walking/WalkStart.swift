import Capabilities
import FileKit

/// The folder in which a walk begins.
struct WalkStart: Sendable {
    let folder: Folder
    /// How it was asked for; all paths of the walk begin with it.
    let prefix: EntryPath
    /// What of it rules keep from tools, and where it is.
    let denied: DeniedGlobs
    let location: [UInt8]
    /// Its rules within those of the folders above it.
    let scope: IgnoreScope?

    init(_ path: EntryPath, in workspace: Workspace) throws {
        folder = try workspace.folder(path)
        (denied, location) = (workspace.denied, workspace.denied.isEmpty ? [] : folder.location)
        let parts = path.parts
        prefix = EntryPath(bytes: Array(parts.joined(separator: [Byte.slash])))
        var scope: IgnoreScope?
        // The folders above are found by their names, which tells nothing where a name is `..` or a link.
        if Self.isPlain(parts), (try? workspace.root.folder(prefix)) != nil {
            scope = workspace.root.repositoryScope()
            var above = EntryPath.here
            for part in parts {
                scope = workspace.root.scope(at: above, base: above.lengthWithSlash, within: scope)
                above = above.appending(part)
            }
        }
        self.scope = folder.scope(at: .here, base: prefix.lengthWithSlash, within: scope)
    }

    private static func isPlain(_ parts: [ArraySlice<UInt8>]) -> Bool {
        !parts.contains { $0.elementsEqual([Byte.dot, Byte.dot]) }
    }

    /// Whether a rule keeps something from tools that a walk came by.
    func denies(_ path: EntryPath, isWriting: Bool = false) -> Bool {
        !denied.isEmpty
            && denied.covers(
                AbsolutePath(bytes: location + [Byte.slash] + inside(path).bytes), isWriting: isWriting)
    }

    /// A path of the walk as the folder itself is asked for it.
    func inside(_ path: EntryPath) -> EntryPath {
        prefix.bytes.isEmpty ? path : EntryPath(bytes: Array(path.bytes.dropFirst(prefix.lengthWithSlash)))
    }
}
