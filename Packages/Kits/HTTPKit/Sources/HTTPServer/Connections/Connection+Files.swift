import Glibc
import HTTPCore

extension Connection {
    /// A file being sent: the bytes to send first, and the remaining range of the file.
    private struct FilePlan: ~Copyable {
        let file: OpenFile
        var written: Written
        let rest: Range<Int>
    }

    @inline(never)
    nonisolated(nonsending) func writeFile(
        _ answer: HTTPAnswer, _ path: String, _ request: ServerRequest
    ) async throws -> Bool {
        guard OpenFile.isLarge(path) else { return try await writeFileHere(answer, path, request) }
        // A disk can block for seconds, and compression takes time.
        return try await core.files.run { try await self.writeFileHere(answer, path, request) }
    }

    @inline(never)
    private nonisolated(nonsending) func writeFileHere(
        _ answer: HTTPAnswer, _ path: String, _ request: ServerRequest
    ) async throws -> Bool {
        let plan = try plan(answer, path, request)
        var bytes = plan.written.bytes
        var offset = plan.rest.lowerBound
        while offset < plan.rest.upperBound {
            // It is too late to report that the file became shorter; the client sees the missing end.
            guard let piece = plan.file.read(at: offset, count: min(128 << 10, plan.rest.upperBound - offset)),
                !piece.isEmpty
            else { throw ClientGone.finished }
            offset += piece.count
            bytes.append(contentsOf: piece)
            try await send(bytes)
            bytes.removeAll()
        }
        if !bytes.isEmpty { try await send(bytes) }
        return !plan.written.closes
    }

    @inline(never)
    private func plan(_ answer: HTTPAnswer, _ path: String, _ request: ServerRequest) throws -> FilePlan {
        let file = try OpenFile(path)
        var answer = answer
        if answer.headers["ETag"] == nil { answer.headers["ETag"] = file.etag }
        if answer.headers["Last-Modified"] == nil { answer.headers["Last-Modified"] = file.lastModified }
        var shape = try AnswerShape(answer, length: file.length, hasRanges: true, request.head)
        if shape.status == .ok, Gzip.canCompress(file.length, shape.headers) {
            guard var bytes = file.read(at: 0, count: file.length), bytes.count == file.length else {
                throw RequestProblem(.internalServerError, code: "server.file", "the file cannot be read")
            }
            shape.compress(&bytes, request.headers)
            var written = try whole(shape.status, shape.headers, bytes, shape.range, request)
            written.bytes += written.body
            return FilePlan(file: file, written: written, rest: 0..<0)
        }
        let head = makeHead(shape.status, shape.headers, .length(shape.range.count), request.head)
        var bytes: [UInt8] = []
        try head.write(into: &bytes, core.dateLine)
        let isBare = head.framing == .bare || request.method == .head
        begin(head, isBare ? 0 : shape.range.count)
        return FilePlan(
            file: file, written: Written(bytes: bytes, closes: head.closes), rest: isBare ? 0..<0 : shape.range)
    }
}

/// A regular file that is being sent; closed once.
struct OpenFile: ~Copyable, Sendable {
    private let descriptor: Int32
    let length: Int
    let etag: String
    let lastModified: String

    /// Whether the file exists and takes a while to read.
    static func isLarge(_ path: String) -> Bool {
        var info = stat()
        return unsafe stat(path, &info) == 0 && info.st_size > FileThreads.large
    }

    /// Throws the problem to respond with.
    init(_ path: String) throws(RequestProblem) {
        // Without O_NONBLOCK, opening a FIFO would block.
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
            throw .notFound("there is no regular file with that name")
        }
        self.descriptor = descriptor
        length = Int(info.st_size)
        let (seconds, nanoseconds) = (Int(info.st_mtim.tv_sec), Int(info.st_mtim.tv_nsec))
        func hex(_ number: Int) -> String { String(number, radix: 16) }
        etag = "\"\(hex(Int(truncatingIfNeeded: info.st_ino)))-\(hex(length))-\(hex(seconds)).\(hex(nanoseconds))\""
        lastModified = HTTPDate.text(secondsSince1970: seconds)
    }

    /// Reads up to `count` bytes from an offset; empty if the file became shorter, nil if reading fails.
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
