/// The body of a request, read while it comes.
///
/// Nothing is received before somebody asks for it, so that a handler that is slow slows the client. What a handler
/// leaves is thrown away when it is little, and ends the connection otherwise.
public struct RequestBody: AsyncSequence, Sendable {
    public typealias Element = [UInt8]

    let connection: Connection
    let number: Int
    let limit: Int

    /// The whole body. One that is larger than the route's limit is refused with 413.
    public func bytes() async throws -> [UInt8] {
        var whole: [UInt8] = []
        while let piece = try await connection.nextPiece(of: number, limit: limit) {
            if whole.isEmpty { whole = piece } else { whole.append(contentsOf: piece) }
        }
        return whole
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: self)
    }

    /// Reads piece by piece.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let body: RequestBody

        public mutating func next() async throws -> [UInt8]? {
            try await body.connection.nextPiece(of: body.number, limit: body.limit)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> [UInt8]? {
            try await body.connection.nextPiece(of: body.number, limit: body.limit)
        }
    }
}
