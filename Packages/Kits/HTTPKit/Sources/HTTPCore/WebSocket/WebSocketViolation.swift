/// What a peer did that RFC 6455 does not allow, or a limit of ours that it went over; the connection is to be failed.
public struct WebSocketViolation: Error, Sendable, Hashable {
    /// What the other side is told.
    public let closeCode: WebSocketCloseCode
    /// What was wrong, for a person: "a frame uses reserved bits".
    public let message: String

    init(_ closeCode: WebSocketCloseCode = .protocolError, _ message: String) {
        self.closeCode = closeCode
        self.message = message
    }
}
