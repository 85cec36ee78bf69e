/// Writes the body of an answer while it is made. Several tasks may write; their pieces do not mix.
public struct BodyWriter: Sendable {
    let connection: Connection
    let number: Int

    /// Sends a piece, and waits while the client does not read.
    ///
    /// Throws `CancellationError` once the client went away, and `ClientGone` when it did not read for too long.
    public func write(_ bytes: [UInt8]) async throws {
        if bytes.isEmpty { return }
        try await connection.writePiece(bytes, of: number)
    }

    /// Sends a piece of text in UTF-8.
    public func write(_ text: String) async throws {
        try await write(Array(text.utf8))
    }

    /// Sends the head of the answer now, and not only with the first bytes. From here on the status stands.
    public func begin() async throws {
        try await connection.writePiece([], of: number)
    }
}
