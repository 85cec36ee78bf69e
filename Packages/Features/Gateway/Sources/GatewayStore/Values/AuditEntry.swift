public import Capabilities
public import JSON

/// Something that somebody did or was refused.
public struct AuditEntry: Sendable, Hashable {
    /// What it is called; nil until it is stored. Newer ones have larger numbers.
    public var number: Int?
    /// When it was stored; nil before.
    public var time: Timestamp?
    public var project: String?
    public var session: String?
    /// Who: `model`, `client`, `gateway`.
    public var actor: String
    /// What was done, as a dotted word such as `tool.call` or `turn.stopped`.
    public var action: String
    /// What it was done to, such as a tool's name.
    public var subject: String?
    /// What was decided about it, and by whom, in a word.
    public var decision: String?
    /// What else is known. Only the beginning of a large one is kept.
    public var detail: JSON

    public init(
        project: String? = nil, session: String? = nil, actor: String, action: String, subject: String? = nil,
        decision: String? = nil, detail: JSON = .null
    ) {
        self.project = project
        self.session = session
        self.actor = actor
        self.action = action
        self.subject = subject
        self.decision = decision
        self.detail = detail
    }
}
