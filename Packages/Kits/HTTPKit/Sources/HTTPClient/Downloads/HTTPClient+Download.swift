import Glibc
public import HTTPCore
import LoopKit

/// What came of a download.
public struct HTTPDownload: Sendable {
    public let status: HTTPStatus
    public let headers: HTTPHeaders
    /// The address that answered.
    public let url: HTTPURL
    /// How many bytes were written.
    public let count: Int
}

extension HTTPClient {
    /// Writes the body of the answer to an open file, from where it stands, without ever holding much of it.
    ///
    /// A status that means failure is thrown with the server's words, and nothing is written. On every other error, and
    /// when the task is cancelled, what was written stays: to go on later, ask for the rest by a `Range` header.
    public nonisolated(nonsending) func download(
        _ request: HTTPRequest, to descriptor: Int32
    ) async throws -> HTTPDownload {
        var request = request
        // Nobody reads the pieces, so the fewest are the best: each wakes the writing thread.
        request.limits.buffer = 512 << 10
        // A file is what the server has; some call the type of an archive its encoding.
        request.acceptsCompressed = request.acceptsCompressed ?? false
        let exchange = try await open(request).requireSuccess()
        let executor = try OwnThreadExecutor()
        defer { executor.end() }
        // A disk can block for seconds, and the shared pool has only as many threads as there are cores.
        let count = try await withTaskExecutorPreference(executor) {
            var count = 0
            for try await bytes in exchange.body {
                try Self.write(bytes, to: descriptor, from: exchange.url)
                count += bytes.count
            }
            return count
        }
        return HTTPDownload(status: exchange.status, headers: exchange.headers, url: exchange.url, count: count)
    }

    /// Downloads to a new file, which is removed again when the download fails. A file that is there is not touched.
    public nonisolated(nonsending) func download(
        _ request: HTTPRequest, to path: String, mode: UInt32 = 0o644
    ) async throws -> HTTPDownload {
        let descriptor = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
        guard descriptor >= 0 else {
            throw HTTPError(.body, "cannot write \(path): \(Self.words(errno))", mayHaveBeenSent: false)
        }
        var isDone = false
        defer {
            if !isDone { unsafe unlink(path) }
        }
        let download: HTTPDownload
        do {
            download = try await self.download(request, to: descriptor)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        // Some file systems report a full disk only here.
        guard Glibc.close(descriptor) == 0 || errno == EINTR else {
            throw HTTPError(.body, "cannot write \(path): \(Self.words(errno))", server: request.url.server)
        }
        isDone = true
        return download
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, from url: HTTPURL) throws(HTTPError) {
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
                return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw HTTPError(
                    .body, "cannot write what \(url.server) sends: \(words(errno))", server: url.server)
            }
            written += count
        }
    }

    // strerror is safe here: glibc keeps its text in thread-local storage.
    private static func words(_ number: Int32) -> String {
        unsafe strerror(number).map { unsafe String(cString: $0).lowercased() } ?? "system error \(number)"
    }
}
