/// How a connection that is kept up is doing (row D-02).
public enum ConnectionState<Instant: InstantProtocol>: Sendable, Hashable {
    case disconnected
    case connecting
    case connected
    /// The next attempt, counted from 1, is made at that time.
    case reconnecting(attempt: Int, at: Instant)
}
