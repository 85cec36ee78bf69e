public import GatewayStore

/// How it stands with a session.
public struct SessionStatus: Sendable, Hashable {
    public let session: Session
    /// Whether a turn runs, here or in another process.
    public let isRunning: Bool
    /// How many questions wait for an answer.
    public let openApprovals: Int
}
