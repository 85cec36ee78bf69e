public import HTTPCore

/// An answer whose body is still to be read. Letting go of it, and of its body, ends the request.
public struct HTTPExchange: Sendable {
    public let status: HTTPStatus
    public let headers: HTTPHeaders
    /// The address that answered, which differs from the one asked when there were redirects.
    public let url: HTTPURL
    public let version: HTTPVersion
    /// Whether the connection had served another request before.
    public let isReused: Bool
    /// How many times the request was sent.
    public let attempts: Int
    public let body: HTTPBodyStream

    init(_ head: ResponseHead, url: HTTPURL, attempts: Int, lease: TransferLease) {
        status = head.status
        headers = head.headers
        version = head.version
        isReused = head.isReused
        self.url = url
        self.attempts = attempts
        body = HTTPBodyStream(lease: lease)
    }

    /// Reads the rest of the body, and fails when it is larger than `limit`.
    public nonisolated(nonsending) func collect(limit: Int) async throws -> [UInt8] {
        var whole: [UInt8] = []
        for try await bytes in body {
            guard bytes.count <= limit - whole.count else {
                cancel()
                throw HTTPError(
                    .tooLarge, "the answer of \(url.server) is larger than \(limit) bytes, which is the limit",
                    status: status, server: url.server)
            }
            if whole.isEmpty { whole = bytes } else { whole.append(contentsOf: bytes) }
        }
        return whole
    }

    /// Itself, or an error with the server's own words when the status means failure.
    public nonisolated(nonsending) func requireSuccess() async throws -> HTTPExchange {
        guard !status.isSuccess else { return self }
        var words: [UInt8] = []
        for try await bytes in body {
            words += bytes
            if words.count > 64 << 10 { break }
        }
        cancel()
        throw HTTPError(status: status, headers: headers, body: words, server: url.server)
    }

    /// Ends the request; whoever reads the body gets a `CancellationError`.
    public func cancel() {
        body.lease.transfer.cancel()
    }
}
