/// How much the calls of clients that run as tasks may use.
public struct MCPTaskLimits: Sendable, Hashable {
    /// The tasks that are kept for one client. Beyond that, the oldest whose result was asked for is forgotten; if there is
    /// none, no other begins.
    public var each = 32
    /// The tasks that are kept for all clients.
    public var all = 256
    /// How long a task is kept from its beginning: at least, however little its client asks for, and at most. One that still
    /// runs then is cancelled.
    public var life = Duration.seconds(600)...Duration.seconds(3_600)
    /// The largest result in bytes.
    public var result = 8 << 20
    /// The results in bytes that are kept at once for all clients.
    public var results = 64 << 20
    /// How long a call of the modern era may take before it becomes a task; zero for all calls that may be tasks.
    public var patience = Duration.seconds(2)
    /// How long clients should wait before they ask for a task again.
    public var pause = Duration.seconds(1)

    /// The program uses the defaults.
    public init() {}
}
