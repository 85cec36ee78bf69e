/// What may be held for a server that is reached by HTTP, and how long it may take.
public struct MCPHTTPLimits: Sendable, Hashable {
    /// The largest message in bytes.
    public var message = 16 << 20
    /// How many bytes of messages may wait to be taken by the server.
    public var outgoing = 64 << 20
    /// How many messages may wait to be taken by the server.
    public var messages = 1_000
    /// How long the server may take to accept a message that it does not answer.
    public var acceptance = Duration.seconds(30)
    /// How long the explanation of a refusal is waited for.
    public var explanation = Duration.seconds(5)
    /// How long the old transport may take to name the address for messages.
    public var endpoint = Duration.seconds(10)
    /// How long the end of a session may take.
    public var farewell = Duration.seconds(2)
    /// The wait before a stream is resumed, unless the server wants another.
    public var wait = Duration.seconds(1)
    /// The longest such wait, whatever the server wants.
    public var longestWait = Duration.seconds(60)
    /// How often resuming a stream may fail in a row.
    public var attempts = 5
    /// How often a request may be redirected within its server.
    public var redirects = 5

    /// The program uses the defaults.
    public init() {}
}
