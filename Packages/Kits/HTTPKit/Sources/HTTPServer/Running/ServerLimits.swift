/// How long and how much a server lets a client take.
public struct ServerLimits: Sendable {
    /// For a head, from its first byte on.
    public var head: Duration = .seconds(10)
    /// Between two requests of a connection.
    public var idle: Duration = .seconds(75)
    /// Without any progress, while a body is read or an answer is written.
    public var stall: Duration = .seconds(30)
    /// How many bytes of a body have to come in a second on average, once `stall` is over: who sends a byte now and then
    /// would hold a handler for ever.
    public var bodyPace = 1 << 10
    /// For running handlers, once the server ends; then they are cancelled.
    public var drain: Duration = .seconds(10)
    /// Between two signs of life in a silent event stream.
    public var heartbeat: Duration = .seconds(15)
    /// The largest body that is read, where the route says nothing else.
    public var body = 16 << 20
    /// How much of an unwanted body is read only to keep the connection.
    public var discarded = 256 << 10
    /// The largest head; the address in it may have half of that.
    public var headSize = 16 << 10
    public var connections = 10_000
    /// Nil for as many as there may be at all; clients of a loopback all have one address.
    public var connectionsPerPeer: Int?
    /// Requests that are being answered at the same time, streams among them.
    public var handlers = 8_000

    public init() {}

    var parsing: RequestParser.Limits {
        var limits = RequestParser.Limits()
        limits.head = headSize
        limits.target = headSize / 2
        return limits
    }
}
