public import Capabilities
public import HTTPCore

/// Writes a response body while it is produced. Several tasks may write; their pieces do not mix.
public struct BodyWriter: Sendable {
    let connection: Connection
    let number: Int

    /// Sends a piece, and waits while the client does not read.
    ///
    /// Throws `CancellationError` after the client disconnected, and `ClientGone` if it did not read for too long.
    public func write(_ bytes: [UInt8]) async throws {
        if bytes.isEmpty { return }
        try await connection.writePiece(bytes, of: number)
    }

    /// Sends a piece of text in UTF-8.
    public func write(_ text: String) async throws {
        try await write(Array(text.utf8))
    }

    /// Sends the response head now instead of with the first bytes. The status cannot change afterwards.
    public func begin() async throws {
        try await connection.writePiece([], of: number)
    }
}

/// Sends server-sent events to one client. A comment is sent automatically after a long silence.
public struct EventStreamWriter: Sendable {
    let body: BodyWriter
    /// The last event id that a reconnecting client sent, if any.
    public let lastEventID: String?

    /// Sends an event, and waits while the client does not read.
    ///
    /// Throws `CancellationError` after the client disconnected, `ClientGone` if it did not read for too long, and
    /// `HTTPError` for a type or id with a line end.
    public func send(_ event: ServerSentEvent) async throws {
        try await body.write(try event.encoded())
    }

    /// Sends an event with this text: `try await events.send(data: json.text())`.
    public func send(data: String, type: String? = nil, id: String? = nil) async throws {
        var writer = EventWriter()
        try writer.event(data, type: type, id: id)
        try await body.write(writer.take())
    }

    /// Sends the output of an `EventWriter`: several events at once.
    public func send(written bytes: [UInt8]) async throws {
        try await body.write(bytes)
    }

    /// Sends the output of an `EventWriter` without waiting, for code that must not block where events happen. False
    /// while the client has not accepted all of it; then `flushed` waits for that.
    ///
    /// Throws `ClientGone` after the client disconnected.
    public func offer(written bytes: [UInt8]) throws -> Bool {
        try body.connection.offerPiece(bytes, of: body.number)
    }

    /// Waits until the client has accepted everything; throws what `send` throws.
    public func flushed() async throws {
        try await body.begin()
    }
}

/// The client can no longer be answered: it disconnected or does not read.
public struct ClientGone: Failure, Hashable {
    public let message: String

    public var code: String { "server.client-gone" }
    public var exit: ExitCode { .unreachable }

    static let closed = ClientGone(message: "the client closed the connection before the response was complete")
    static let stalled = ClientGone(message: "the client did not read the response for too long and was disconnected")
    static let silent = ClientGone(message: "the client did not answer a ping")
    static let finished = ClientGone(message: "the response has already ended; nothing can be added to it")
}
