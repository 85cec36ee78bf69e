public import Capabilities

/// What somebody is asked to agree to.
public struct ApprovalRequest: Sendable, Hashable {
    /// As the model wrote it.
    public var call: ToolCall
    /// What the source calls the tool.
    public var tool: String
    public var source: String
    public var effect: Effect
    /// What the tool says of itself.
    public var summary: String

    public init(call: ToolCall, tool: String, source: String, effect: Effect, summary: String) {
        self.call = call
        self.tool = tool
        self.source = source
        self.effect = effect
        self.summary = summary
    }

    /// The rule that remembers an answer for this tool; nil for one that counts once.
    public func rule(_ verdict: ApprovalVerdict, lasting scope: ApprovalScope) -> ApprovalRule? {
        guard scope != .once else { return nil }
        return ApprovalRule(verdict, tool: Glob.escape(tool), source: Glob.escape(source), scope: scope)
    }
}

/// What a person says to a request.
public struct ApprovalAnswer: Sendable, Hashable {
    public var isAllowed: Bool
    /// For how long it counts.
    public var scope: ApprovalScope
    /// What the model is told of why not.
    public var reason: String?

    public init(isAllowed: Bool, scope: ApprovalScope = .once, reason: String? = nil) {
        self.isAllowed = isAllowed
        self.scope = scope
        self.reason = reason
    }
}

/// What was decided about a call, and by whom.
public struct ApprovalDecision: Sendable, Hashable {
    public var isAllowed: Bool
    public var by: Origin

    public enum Origin: Sendable, Hashable {
        case rule(ApprovalRule)
        /// What holds for all tools of this effect.
        case effect
        case person
        /// It had to be asked, and nobody was there.
        case nobody
    }

    public init(isAllowed: Bool, by origin: Origin) {
        self.isAllowed = isAllowed
        by = origin
    }
}

public enum ApprovalVerdict: String, Choice, Hashable {
    case allow, ask, deny
}

/// For how long an approval counts.
public enum ApprovalScope: String, Choice, Hashable {
    case once, conversation, project, always
}
