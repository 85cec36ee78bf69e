public import Capabilities

/// A call of a tool and how far it has come; the row of a timeline.
public struct CallUpdate: Sendable, Hashable {
    /// What the model wrote. The input of a malformed call is its text.
    public var call: ToolCall
    /// Who offers the tool; nil for one that nobody has.
    public var source: String?
    /// What the source calls the tool, which may be another name than the model knows it by.
    public var tool: String?
    public var effect: Effect?
    public var state: State = .waiting
    /// Who agreed to it or did not.
    public var decision: ApprovalDecision?
    /// What it would change, or has changed, as a unified diff.
    public var diff: String?
    /// The whole result, however much of it the model is given.
    public var result: ToolResult?
    public var started: Timestamp?
    public var ended: Timestamp?

    /// The diff, for people; not too long.
    public var shownDiff: String? { diff.map(CallText.shown) }

    public enum State: String, Choice, Hashable {
        /// It waits for its turn, or for somebody's approval.
        case waiting
        case approved
        case denied
        case running
        case done
        /// It was done and went wrong, or could not be done.
        case failed
    }

    public init(_ call: ToolCall, source: String? = nil, tool: String? = nil, effect: Effect? = nil) {
        self.call = call
        self.source = source
        self.tool = tool
        self.effect = effect
    }
}
