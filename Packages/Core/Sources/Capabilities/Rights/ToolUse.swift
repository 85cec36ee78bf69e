/// What a model wants of a tool, as far as it counts for whether it may.
public struct ToolUse: Sendable, Hashable {
    public let tool: String
    public let source: String
    public let effect: Effect
    /// Whether it reaches others than this machine, or costs something.
    public let sends: Bool
    public let reach: ToolReach
    /// How far the model goes where no rule says anything else; nil where somebody else has decided that it be asked, as a
    /// server does whose words about a tool count for nothing.
    public let mode: ToolMode?
    /// What the rules of the person say of it; nil where none is about it.
    public let ruling: ApprovalVerdict?

    public init(
        _ tool: String, of source: String, _ effect: Effect, sends: Bool = false, reach: ToolReach = ToolReach(),
        mode: ToolMode?, ruling: ApprovalVerdict? = nil
    ) {
        self.tool = tool
        self.source = source
        self.effect = effect
        self.sends = sends
        self.reach = reach
        self.mode = mode
        self.ruling = ruling
    }

    /// Whether the mode allows it by itself.
    public var isWithinMode: Bool {
        guard let mode, !sends else { return false }
        if effect == .reads { return true }
        if let command = reach.command { return mode == .full && command.isSandboxed }
        return mode != .readOnly && reach.onlyWritesPaths
    }
}

/// What a rule about tools says.
public enum ApprovalVerdict: String, Choice, Hashable {
    case allow, ask, deny
}
