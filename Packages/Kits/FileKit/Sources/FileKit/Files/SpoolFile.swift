import Glibc

/// A file to which one process appends until another one takes it away.
///
/// What is appended is either in the file that was taken or in the next one, never lost between them: each looks at the place of the
/// file while it holds the file's lock.
public struct SpoolFile: Sendable {
    /// Where it is.
    public let path: String

    /// A file at a path. It is created when something is appended.
    public init(_ path: String) {
        self.path = path
    }

    /// Appends bytes, all or nothing.
    ///
    /// - Parameter bytes: makes them; is told whether they are the first of the file.
    public func append(_ bytes: (_ isFirst: Bool) -> [UInt8]) throws(FileError) {
        while true {
            // A pipe that nobody reads is an error at once, and not a wait without an end.
            let file = try FileDescriptor.open(
                path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode: 0o600, for: "append to")
            try lock(file)
            let info = try file.status(for: "append to")
            guard try isPlace(of: info) else { continue }
            let all = bytes(info.size == 0)
            do throws(FileError) { try file.writeAll(all.span) } catch {
                // Half of it would damage what is appended next. The lock is still held.
                _ = ftruncate(file.rawValue, off_t(info.size))
                throw error
            }
            return try file.close()
        }
    }

    /// Takes the file away under another name, under which nobody appends.
    ///
    /// - Returns: whether there was one.
    public func take(as name: String) throws(FileError) -> Bool {
        while true {
            let file: FileDescriptor
            do throws(FileError) { file = try FileDescriptor.open(path, O_RDONLY | O_NOFOLLOW, for: "take") } catch {
                if error.kind == .notFound { return false }
                throw error
            }
            try lock(file)
            guard try isPlace(of: file.status(for: "take")) else { continue }
            guard unsafe Glibc.rename(path, name) == 0 else { throw FileError("take", path, errno: errno) }
            return true
        }
    }

    private func lock(_ file: borrowing FileDescriptor) throws(FileError) {
        // Held for a write or a rename, so that waiting for it blocks no thread for long.
        guard retryingInterrupts({ Int(flock(file.rawValue, LOCK_EX)) }) == 0 else {
            throw FileError("lock", path, errno: errno)
        }
    }

    /// Whether the file is still at its path.
    private func isPlace(of info: FileInfo) throws(FileError) -> Bool {
        do throws(FileError) {
            let there = try Files.info(path, followLinks: false)
            return there.inode == info.inode && there.device == info.device
        } catch {
            if error.kind == .notFound { return false }
            throw error
        }
    }
}
