public import Capabilities

/// A question that waits for a client's answer.
public struct ApprovalTicket: Sendable, Hashable {
    public let id: String
    public let session: String
    /// What the model wants, under the tool's own name.
    public let call: ToolCall
    /// Who offers the tool.
    public let source: String
    public let effect: Effect
    /// What the tool says of itself.
    public let summary: String
    /// What it would reach.
    public let reach: ToolReach
    /// What an answer that counts for longer would be about; nil where none can.
    public let remembers: String?
    /// When it counts as a no.
    public let expires: Timestamp
    /// How long that was from the beginning.
    public let limit: Duration
}
