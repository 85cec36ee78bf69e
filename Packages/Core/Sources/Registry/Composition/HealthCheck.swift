import Capabilities

/// Something that `martlet doctor` looks at.
public struct HealthCheck: Sendable {
    /// A stable dotted id that begins with the feature's id.
    public let id: String
    /// What is looked at, as a noun: "the settings folder".
    public let summary: String
    /// Looks; it has a time limit, after which it counts as failed.
    public let look: @Sendable (Host) async -> Finding

    public init(_ id: String, _ summary: String, look: @escaping @Sendable (Host) async -> Finding) {
        self.id = id
        self.summary = summary
        self.look = look
    }

    /// What was found, and how to mend it.
    public enum Finding: Sendable, Hashable {
        case ok(String)
        case warning(String, mend: String)
        case failure(String, mend: String)
    }
}
