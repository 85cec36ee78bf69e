/// The gateway's records in figures.
public struct Stats: Sendable, Hashable {
    public let projects: Int
    public let sessions: Int
    /// Sessions in which a turn runs now.
    public let running: [String]
    public let messages: Int
    /// What everything has taken so far, with what is deleted.
    public let usage: UsageSum
    /// The models of the sessions.
    public let models: [String]
}
