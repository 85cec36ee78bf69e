import FileKit
import Glibc

/// The file of a Unix socket.
struct SocketFile: Sendable {
    let path: String
    private let device: dev_t
    private let inode: ino_t

    /// Makes the socket under a name that nobody waits at, readable and writable by this user only, and puts it in its
    /// place when it is ready. What a dead server left is replaced; a live one, or a file of another kind, is not.
    static func make(
        _ path: String, _ listen: () throws(ServerError) -> Int32
    ) throws(ServerError) -> (Int32, SocketFile) {
        // Of two servers that start at once, the second would remove what the first has just made.
        let lock = try lock("\(path).lock")
        try removeStale(path)
        let descriptor = try listen()
        lock.release()
        var info = stat()
        guard unsafe lstat(path, &info) == 0 else {
            let number = errno
            close(descriptor)
            throw .listen(path, number)
        }
        return (descriptor, SocketFile(path: path, device: info.st_dev, inode: info.st_ino))
    }

    private static func lock(_ path: String) throws(ServerError) -> FileLock {
        do throws(FileError) {
            if let lock = try FileLock.tryAcquire(path) { return lock }
        } catch {
            throw ServerError(.listen, "cannot listen at \(path.dropLast(5)): \(error.message)", cause: error)
        }
        throw .listen(String(path.dropLast(5)), EADDRINUSE)
    }

    private static func removeStale(_ path: String) throws(ServerError) {
        var info = stat()
        guard unsafe lstat(path, &info) == 0 else { return }
        guard info.st_mode & S_IFMT == S_IFSOCK else {
            throw ServerError(.listen, "cannot listen at \(path): a file of another kind is there; choose another path")
        }
        guard let address = SocketAddress(path: path) else { return }
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let probe = socket(AF_UNIX, kind, 0)
        guard probe >= 0 else { throw .listen(path, errno) }
        defer { close(probe) }
        let result = unsafe address.withPointer { unsafe connect(probe, $0, $1) }
        // Only this answer means that nobody listens; a full queue, for one, means that somebody does.
        guard result != 0, errno == ECONNREFUSED else { throw .listen(path, EADDRINUSE) }
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw .listen(path, errno) }
    }

    /// Removes the file, unless another server has put its own there.
    func remove() {
        var info = stat()
        guard unsafe lstat(path, &info) == 0, info.st_dev == device, info.st_ino == inode else { return }
        unsafe unlink(path)
    }
}
