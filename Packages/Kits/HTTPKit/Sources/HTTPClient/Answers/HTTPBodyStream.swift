/// The body of an answer as it comes: all bytes that are there, each time one asks.
///
/// The server is made to wait for as long as nobody asks. One task reads; what it has read is gone. Throws `HTTPError`,
/// or `CancellationError` when the task is cancelled, which ends the request.
public struct HTTPBodyStream: AsyncSequence, Sendable {
    public typealias Element = [UInt8]

    let lease: TransferLease

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(lease: lease) }

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

/// Ends a transfer when nobody can read it any more.
final class TransferLease: Sendable {
    let transfer: Transfer

    init(_ transfer: Transfer) {
        self.transfer = transfer
    }

    deinit { transfer.cancel() }
}
