import Glibc
import HTTPCore

/// A regular file that is being sent; closed once.
struct OpenFile: ~Copyable, Sendable {
    private let descriptor: Int32
    let length: Int
    let etag: String
    let lastModified: String

    /// Whether there is a file that takes a while to read.
    static func isLarge(_ path: String) -> Bool {
        var info = stat()
        return unsafe stat(path, &info) == 0 && info.st_size > FileThreads.large
    }

    /// Throws the problem to answer with.
    init(_ path: String) throws(RequestProblem) {
        // Without O_NONBLOCK a FIFO would be waited for.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR, ENAMETOOLONG: throw .notFound("the file does not exist")
            case EACCES, EPERM: throw .forbidden("the file may not be read")
            default: throw RequestProblem(.internalServerError, code: "server.file", "the file cannot be opened")
            }
        }
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw .notFound("there is no regular file of that name")
        }
        self.descriptor = descriptor
        length = Int(info.st_size)
        let (seconds, nanoseconds) = (Int(info.st_mtim.tv_sec), Int(info.st_mtim.tv_nsec))
        func hex(_ number: Int) -> String { String(number, radix: 16) }
        etag = "\"\(hex(Int(truncatingIfNeeded: info.st_ino)))-\(hex(length))-\(hex(seconds)).\(hex(nanoseconds))\""
        lastModified = HTTPDate.text(secondsSince1970: seconds)
    }

    /// Up to `count` bytes from a place on; empty where the file has become shorter, nil when it cannot be read.
    func read(at offset: Int, count: Int) -> [UInt8]? {
        var failed = false
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            var result: Int
            repeat {
                result = unsafe pread(descriptor, buffer.baseAddress, count, off_t(offset))
            } while result < 0 && errno == EINTR
            failed = result < 0
            used = max(result, 0)
        }
        return failed ? nil : bytes
    }

    deinit {
        close(descriptor)
    }
}
