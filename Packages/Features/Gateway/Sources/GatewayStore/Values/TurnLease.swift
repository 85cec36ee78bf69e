/// The right to write to a session, which one turn has at a time.
public struct TurnLease: Sendable, Hashable {
    public let session: String
    /// What the turn is called.
    public let id: String
    /// Whether the turn before never ended, because its process died.
    public let isTakeover: Bool
}
