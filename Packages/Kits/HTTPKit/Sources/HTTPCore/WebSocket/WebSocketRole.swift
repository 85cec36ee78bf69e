/// Which side of a WebSocket: a client masks what it sends, and a server must not.
public enum WebSocketRole: Sendable {
    case client, server
}

/// What a peer may make this side keep in memory.
public struct WebSocketLimits: Sendable, Hashable {
    /// The bytes of a message, whatever the number of its frames.
    public var message: Int

    public init(message: Int = 16 << 20) {
        self.message = message
    }
}
