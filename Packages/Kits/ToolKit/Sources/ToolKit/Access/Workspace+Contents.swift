import FileKit
import Glibc
import LoopKit

extension Workspace {
    /// A regular file that is open, whatever becomes of its name.
    public final class File: Sendable {
        public let entry: Entry
        private let descriptor: FileDescriptor

        init(_ entry: Entry, _ descriptor: consuming FileDescriptor) {
            self.entry = entry
            self.descriptor = descriptor
        }

        /// Up to `count` bytes from a place on; fewer only at the end of the file, and none behind it.
        public func read(at offset: Int, count: Int) async throws -> [UInt8] {
            try await onOwnThread { [self] in Result { try readNow(offset, count) } }.get()
        }

        private func readNow(_ offset: Int, _ count: Int) throws -> [UInt8] {
            var number: Int32 = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
                while used < count {
                    let result = unsafe pread(
                        descriptor.rawValue, buffer.baseAddress.map { unsafe $0 + used }, count - used,
                        off_t(offset + used))
                    if result < 0 {
                        if errno == EINTR { continue }
                        number = errno
                    }
                    guard result > 0 else { return }
                    used += result
                }
            }
            guard number == 0 else { throw WorkspaceError(number, try EntryPath(entry.path)) }
            return bytes
        }
    }

    /// Opens a file to read its bytes as they are. A link is followed while it stays inside.
    public func open(_ path: String) async throws -> File {
        let path = try EntryPath(path)
        return try await work { _ in
            let descriptor = try self.file(path)
            return File(try Entry(path, descriptor), descriptor)
        }
    }

    /// When a file may be written.
    public enum WriteRule: Sendable, Hashable {
        case always
        /// Only where there is none yet.
        case isNew
        /// Only where there is one.
        case exists
        /// Only while it is the one with this tag.
        case matches(etag: String)
    }

    /// Writes all of a file in one step, its bytes as they are; folders above it are made. The mode of one that is there
    /// is kept. Throws `.changed` when the rule does not hold, also when that comes out only in the last moment.
    public func write(
        _ bytes: [UInt8], to path: String, when rule: WriteRule = .always
    ) async throws -> (entry: Entry, isNew: Bool) {
        let path = try EntryPath(path)
        return try await work { cancellation in
            let change = try FileChange(path, bytes: bytes, in: self)
            try rule.check(change)
            _ = try FileChange.write([change], in: self, cancellation)
            return (try Entry(path, try self.file(path)), change.former == nil)
        }
    }
}

extension Workspace.WriteRule {
    fileprivate func check(_ change: FileChange) throws(WorkspaceError) {
        let path = change.path.shown
        switch self {
        case .always: return
        case .isNew:
            guard change.former != nil else { return }
            throw WorkspaceError(.changed, "there is a \(path) already; read it, and write it by its tag")
        case .exists:
            guard change.former == nil else { return }
            throw WorkspaceError(.changed, "there is no \(path) that could be replaced")
        case .matches(let etag):
            guard let former = change.former, let place = change.place else {
                throw WorkspaceError(.changed, "there is no \(path) any more; write it as a new file")
            }
            // The content that is replaced has to be the one of which the tag speaks.
            guard let entry = try place.entry(), entry.stamp == former.status.stamp, entry.etag == etag else {
                throw WorkspaceError(.changed, "\(path) was changed by somebody else; read it again")
            }
        }
    }
}

extension WritePlace {
    fileprivate func entry() throws(WorkspaceError) -> Workspace.Entry? {
        var status = stat()
        let name = terminatedName.map(CChar.init(bitPattern:))
        guard unsafe fstatat(folder.descriptor.rawValue, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return nil }
            throw WorkspaceError(errno, path)
        }
        return Workspace.Entry(path, status)
    }
}

extension FileChange {
    /// A file whose bytes are given, text or not.
    fileprivate init(_ path: EntryPath, bytes: [UInt8], in workspace: Workspace) throws {
        let place: WritePlace?
        do throws(WorkspaceError) {
            place = try WritePlace(path, in: workspace)
        } catch {
            guard error.kind == .notFound else { throw error }
            try NewFolders.check(path, in: workspace)
            place = nil
        }
        self.init(
            path: path, place: place, former: try place.flatMap { try ExistingFile($0) }, content: bytes,
            diff: UnifiedDiff(oldName: nil, newName: nil, hunks: []))
    }
}
