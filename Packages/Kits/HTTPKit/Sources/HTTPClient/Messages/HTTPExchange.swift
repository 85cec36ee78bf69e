public import HTTPCore

/// A response whose body is not read yet. Releasing it and its body ends the request.
public struct HTTPExchange: Sendable {
    /// The status of the response. A failure status is not thrown; see `requireSuccess`.
    public let status: HTTPStatus
    /// The headers of the response, without those of redirects before it.
    public let headers: HTTPHeaders
    /// The address that responded; differs from the requested one after redirects.
    public let url: HTTPURL
    /// The protocol version that the server used.
    public let version: HTTPVersion
    /// Whether the connection had served another request before.
    public let isReused: Bool
    /// How many times the request was sent.
    public let attempts: Int
    /// The body as it arrives; it can be read once.
    public let body: HTTPBodyStream
    /// The maximum wait for the message of a failure response.
    private let patience: Duration

    init(_ head: ResponseHead, url: HTTPURL, attempts: Int, patience: Duration, lease: TransferLease) {
        self.patience = patience
        status = head.status
        headers = head.headers
        version = head.version
        isReused = head.isReused
        self.url = url
        self.attempts = attempts
        body = HTTPBodyStream(lease: lease)
    }

    /// The body as events.
    ///
    ///     let exchange = try await client.open(request).requireSuccess()
    ///     for try await event in exchange.events() { print(event.text) }
    ///
    /// - Parameters:
    ///   - lastEventID: The last event id of the previous stream.
    ///   - readsErrorField: Whether an `error:` line, as old llama.cpp servers send it, is an event of type `error`.
    public func events(
        limits: EventLimits = EventLimits(), lastEventID: String = "", readsErrorField: Bool = false
    ) -> EventStream {
        let parser = EventParser(limits: limits, lastEventID: lastEventID, readsErrorField: readsErrorField)
        return EventStream(body: body, parser: parser, url: url)
    }

    /// Reads the rest of the body, and fails when it is larger than `limit`.
    public nonisolated(nonsending) func collect(limit: Int) async throws -> [UInt8] {
        var whole: [UInt8] = []
        for try await bytes in body {
            guard bytes.count <= limit - whole.count else {
                cancel()
                throw HTTPError(
                    .tooLarge, "the response from \(url.server) is larger than the limit of \(limit) bytes",
                    status: status, server: url.server)
            }
            if whole.isEmpty { whole = bytes } else { whole.append(contentsOf: bytes) }
        }
        return whole
    }

    /// Returns itself, or throws an error with the server's message if the status means failure.
    public nonisolated(nonsending) func requireSuccess() async throws -> HTTPExchange {
        guard !status.isSuccess else { return self }
        let words = await refusal()
        cancel()
        try Task.checkCancellation()
        throw HTTPError(status: status, headers: headers, body: words, server: url.server)
    }

    /// The beginning of the body, as far as it arrives in time.
    private nonisolated(nonsending) func refusal() async -> [UInt8] {
        await withTaskGroup(of: [UInt8]?.self) { [self] group in
            group.addTask {
                var words: [UInt8] = []
                do {
                    for try await bytes in body {
                        words += bytes
                        if words.count > 64 << 10 { break }
                    }
                } catch {
                    // The status is enough; its message may be missing.
                }
                return words
            }
            group.addTask {
                // Ends early only when it is no longer needed.
                do { try await Task.sleep(for: patience) } catch { return nil }
                cancel()
                return nil
            }
            for await words in group {
                guard let words else { continue }
                group.cancelAll()
                return words
            }
            return []
        }
    }

    /// Ends the request; the reader of the body gets a `CancellationError`.
    public func cancel() {
        body.lease.transfer.cancel()
    }
}

/// The body of a response as it arrives: each element contains all available bytes.
///
/// The server is paused while no bytes are requested. Only one task may read, and bytes can be read only once. Throws
/// `HTTPError`, or `CancellationError` when the task is cancelled, which ends the request.
public struct HTTPBodyStream: AsyncSequence, Sendable {
    public typealias Element = [UInt8]

    let lease: TransferLease

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(lease: lease) }

    /// Reads the body. All iterators of a body share its bytes, and each byte is read once.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let lease: TransferLease

        public mutating func next() async throws -> [UInt8]? {
            try await lease.transfer.nextBytes()
        }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> [UInt8]? {
            try await lease.transfer.nextBytes()
        }
    }
}

/// Ends a transfer when its last reader is gone.
final class TransferLease: Sendable {
    let transfer: Transfer

    init(_ transfer: Transfer) {
        self.transfer = transfer
    }

    deinit { transfer.cancel() }
}
