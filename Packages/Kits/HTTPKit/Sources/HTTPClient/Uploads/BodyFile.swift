import Glibc
import HTTPCore

/// An open file, or a part of one, that is sent as a body.
final class BodyFile: Sendable {
    /// How many bytes are sent.
    let count: Int
    /// What errors call it.
    private let name: String
    private let start: Int
    private let descriptor: Int32

    init(path: String, range: Range<Int>?, naming name: String) throws(HTTPError) {
        // O_NONBLOCK, so that a FIFO does not hold the caller up; regular files do not know it.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.failure(name, Self.words(errno)) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Self.failure(name, "it is no regular file; send it as a stream instead")
        }
        let size = Int(status.st_size)
        if let range, range.lowerBound < 0 || range.upperBound > size {
            close(descriptor)
            throw Self.failure(
                name, "it has \(size) bytes, and not those from \(range.lowerBound) to \(range.upperBound)")
        }
        _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
        self.name = name
        self.descriptor = descriptor
        start = range?.lowerBound ?? 0
        count = range?.count ?? size
    }

    deinit { close(descriptor) }

    /// Reads from the offset within the part that is sent.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(HTTPError) -> Int {
        let wanted = min(buffer.count, count - offset)
        guard wanted > 0 else { return 0 }
        while true {
            let got = unsafe pread(descriptor, buffer.baseAddress, wanted, start + offset)
            if got > 0 { return got }
            if got == 0 { throw Self.failure(name, "it became shorter while it was sent") }
            guard errno == EINTR else { throw Self.failure(name, Self.words(errno)) }
        }
    }

    private static func failure(_ name: String, _ reason: String) -> HTTPError {
        HTTPError(.body, "cannot send \(name): \(reason)", mayHaveBeenSent: false)
    }

    // strerror is safe here: glibc keeps its text in thread-local storage.
    private static func words(_ number: Int32) -> String {
        unsafe strerror(number).map { unsafe String(cString: $0).lowercased() } ?? "system error \(number)"
    }
}
