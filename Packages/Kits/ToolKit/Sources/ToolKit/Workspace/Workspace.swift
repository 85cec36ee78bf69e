public import Capabilities
import FileKit
import Glibc

/// A folder, opened once, beneath which tools work and above which they cannot get.
///
/// Paths are relative to it. A link is followed only while it stays inside; `..` may be used inside; absolute paths,
/// FIFOs, sockets and devices are refused. The folder may be renamed while it is open; once it is removed, everything
/// throws `.gone`.
public final class Workspace: Sendable {
    /// The path that it was opened by.
    public let path: String
    let root: Folder
    /// What rules keep from tools.
    let denied: DeniedGlobs

    /// Opens the folder at a path of the system, which may be absolute and pass links.
    public convenience init(_ path: String) throws(WorkspaceError) {
        try self.init(path, resolver: nil)
    }

    /// Opens the folder at an absolute path that had no link in it when it was accepted. A folder that has been replaced by
    /// a link since, or that lies below one, is refused: it would lead to where nobody agreed to.
    public convenience init(canonical path: String) throws(WorkspaceError) {
        try self.init(canonical: path, resolver: nil)
    }

    init(canonical path: String, resolver: Folder.Resolver?) throws(WorkspaceError) {
        let entry = try EntryPath(path)
        guard entry.isAbsolute else {
            throw WorkspaceError(.input, "\(entry.shown) is not an absolute path")
        }
        let top = try Workspace("/", resolver: resolver).root
        let below = EntryPath(bytes: Array(entry.bytes.drop { $0 == Byte.slash }))
        do throws(WorkspaceError) {
            root = Folder(try top.open(below, to: .list, followingLinks: false), resolver: top.resolver)
        } catch {
            guard error.kind == .outside || error.kind == .notFolder else { throw error }
            throw WorkspaceError(
                .outside, "\(entry.shown) is no folder now, or is reached by a link; put it back, or add the new one")
        }
        self.path = path
        denied = DeniedGlobs()
    }

    /// The same folder, with some of it kept from whoever works here.
    public init(_ workspace: Workspace, denying denied: DeniedPaths, home: String?) {
        (path, root) = (workspace.path, workspace.root)
        self.denied = DeniedGlobs(denied, in: workspace.places(home: home))
    }

    /// Where the folder is now.
    public var place: AbsolutePath { AbsolutePath(bytes: root.location) }

    /// Where paths in rules begin that are about this folder.
    public func places(home: String?) -> PathGlob.Places {
        PathGlob.Places(folder: place, home: home.map { AbsolutePath($0) })
    }

    /// With a resolver given, that one is used whatever the kernel can do.
    init(_ path: String, resolver: Folder.Resolver?) throws(WorkspaceError) {
        let entry = try EntryPath(path)
        let opened = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { throw WorkspaceError(errno, entry) }
        let folder = FileDescriptor(owning: opened, path: entry.shown)
        self.path = path
        root = Folder(folder, resolver: resolver)
        denied = DeniedGlobs()
    }

    /// Throws `.gone` when the folder was removed.
    func requirePresent() throws(WorkspaceError) {
        guard try EntryStatus(of: root.descriptor).links > 0 else {
            throw WorkspaceError(
                .gone, "the working folder \(PlainText.escape(path)) was removed; choose another one and try again")
        }
    }
}

extension Workspace {
    /// A file that somebody asked for. It is looked at before it is opened, for opening alone can set off a device.
    func file(_ path: EntryPath) throws(WorkspaceError) -> FileDescriptor {
        try hinting(path) { () throws(WorkspaceError) in
            let place = try root.open(path, to: .look, followingLinks: true)
            try Folder.requireRegular(EntryStatus(of: place), path)
            let file = try root.open(path, to: .read, followingLinks: true)
            try Folder.requireRegular(EntryStatus(of: file), path)
            try requireAllowed(path, at: Folder.location(of: file))
            return file
        }
    }

    /// A folder that somebody asked for.
    func folder(_ path: EntryPath) throws(WorkspaceError) -> Folder {
        try hinting(path) { () throws(WorkspaceError) in
            let folder = Folder(try root.open(path, to: .list, followingLinks: true), resolver: root.resolver)
            try requireAllowed(path, at: folder.location)
            return folder
        }
    }

    /// What somebody asked for leads to.
    func kind(_ path: EntryPath) throws(WorkspaceError) -> FileInfo.Kind {
        try hinting(path) { () throws(WorkspaceError) in
            let place = try root.open(path, to: .look, followingLinks: true)
            try requireAllowed(path, at: Folder.location(of: place))
            return try EntryStatus(of: place).kind
        }
    }

    /// Where somebody's path leads, with all links followed.
    func location(_ path: EntryPath) throws(WorkspaceError) -> AbsolutePath {
        try hinting(path) { () throws(WorkspaceError) in
            let location = Folder.location(of: try root.open(path, to: .look, followingLinks: true))
            try requireAllowed(path, at: location)
            return AbsolutePath(bytes: location)
        }
    }

    /// Adds to "there is none" which name of the same folder may have been meant.
    func hinting<T: ~Copyable>(
        _ path: EntryPath, _ body: () throws(WorkspaceError) -> T
    ) throws(WorkspaceError) -> T {
        do throws(WorkspaceError) {
            return try body()
        } catch {
            guard error.kind == .notFound else { throw error }
            let above = EntryPath(bytes: Array(path.bytes.prefix(path.nameStart)))
            let name = String(decoding: path.bytes.dropFirst(path.nameStart), as: UTF8.self)
            guard let folder = try? root.open(above, to: .list, followingLinks: true),
                let names = try? Listing(of: folder, limit: 10_000).names
            else {
                // Without a listing the error has all that is known.
                throw error
            }
            let hint = Suggestion.text(for: name, among: names.map { PlainText.escape($0) })
            throw WorkspaceError(
                .notFound, error.message + (hint.isEmpty ? "; look for it with ls or glob" : hint))
        }
    }
}
