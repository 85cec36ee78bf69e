import CToolKit
import FileKit
import Glibc

/// An open folder, beneath which everything else is opened.
///
/// The kernel resolves each path from this descriptor (`openat2`). "RESOLVE_BENEATH: Do not permit the path resolution to
/// succeed if any component of the resolution is not a descendant of the directory indicated by dirfd." That holds also
/// while somebody renames folders or replaces them by links, which no check of a path's text could promise.
final class Folder: Sendable {
    /// Who walks along the parts of a path.
    enum Resolver: Sendable {
        case kernel
        /// For kernels before 5.6, and containers that forbid the call.
        case steps
    }

    let descriptor: FileDescriptor
    let resolver: Resolver

    init(_ descriptor: consuming FileDescriptor, resolver: Resolver) {
        self.descriptor = descriptor
        self.resolver = resolver
    }

    /// Opens what is at the path, if it is inside; links are followed as far as they stay inside too, or not at all.
    func open(
        _ path: EntryPath, to purpose: toolkit_purpose, followingLinks: Bool
    ) throws(WorkspaceError) -> FileDescriptor {
        let opened =
            switch resolver {
            case .kernel: openInKernel(path, purpose, followingLinks)
            case .steps: openInSteps(path, purpose, followingLinks)
            }
        guard opened >= 0 else { throw WorkspaceError(-opened, path) }
        return FileDescriptor(owning: opened, path: path.shown)
    }

    /// "EAGAIN: how.resolve contains either RESOLVE_IN_ROOT or RESOLVE_BENEATH, and the kernel could not ensure that a
    /// ".." component didn't escape (due to a race condition or potential attack). The caller may choose to retry."
    private func openInKernel(_ path: EntryPath, _ purpose: toolkit_purpose, _ followingLinks: Bool) -> Int32 {
        let name = path.terminated
        var opened = -EAGAIN
        for _ in 0..<64 where opened == -EAGAIN {
            opened = unsafe toolkit_open_beneath(descriptor.rawValue, name, purpose, followingLinks)
        }
        return opened
    }
}

extension Folder {
    /// What is at the path, without following a link there.
    func status(_ path: EntryPath) throws(WorkspaceError) -> EntryStatus {
        try EntryStatus(of: open(path, to: TOOLKIT_LOOK, followingLinks: false))
    }

    /// Where a link leads to, as it is written there.
    func target(_ path: EntryPath) throws(WorkspaceError) -> EntryPath {
        let link = try open(path, to: TOOLKIT_LOOK, followingLinks: false)
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let length = unsafe toolkit_read_link(link.rawValue, [0], &target, target.count)
        guard length >= 0 else { throw WorkspaceError(Int32(-length), path) }
        return EntryPath(bytes: Array(target.prefix(length)))
    }

    /// A folder found in a listing, or this one again.
    func folder(_ path: EntryPath) throws(WorkspaceError) -> FileDescriptor {
        try open(path, to: TOOLKIT_LIST, followingLinks: false)
    }

    /// A file found in a listing; what has become something else since is refused.
    func file(_ path: EntryPath) throws(WorkspaceError) -> FileDescriptor {
        let file = try open(path, to: TOOLKIT_READ, followingLinks: false)
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
