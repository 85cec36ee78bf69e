/// A request that a grant decides.
public enum GrantRequest: Sendable, Hashable {
    /// An action by its id, with its effect and who may use it.
    case action(String, Effect, ActionOffer)
    /// A server by its name or address, before the name is resolved.
    case host(String, port: Int)
    /// The address to which an allowed host resolved. Whoever controls the name could resolve it to this machine.
    case address(String, port: Int, host: String)
    /// An absolute path without `.` and `..`.
    case path(String, PathPurpose)
    /// The value of a secret.
    case secret(SecretName)
    /// A secret that signs a request to its own server. Needs a caller but no permission.
    case credential(SecretName)
    /// A program that our own code starts for its work. Needs a caller but no permission.
    case child(String)
    /// A program that an action runs.
    case program(String)
    /// The whole network, for a program that connects wherever it wants.
    case network
    /// A route of one of our servers, which any of these scopes opens.
    case route(Set<ClientScope>)
    /// A tool that a model wants to use without confirmation.
    case tool(ToolUse)
}

/// Who may use an action besides the person. Each action declares it.
public enum ActionOffer: Sendable, Hashable {
    /// Also models: the action only reads Martlet's own state.
    case models
    /// Bundles, according to its effect or by name.
    case bundles
    /// Only bundles that name it, because it changes what others may do: settings, trust, keys, tokens, rules.
    case byName
}

/// Whether a request is allowed, with the rule that decides it.
public enum GrantDecision: Sendable, Hashable {
    /// Allowed without confirmation.
    case allow(rule: String)
    /// Allowed after confirmation.
    case ask(rule: String)
    /// - Parameter mend: what would allow it.
    case deny(rule: String, mend: String)

    /// Whether it is allowed without confirmation.
    public var isAllowed: Bool { if case .allow = self { true } else { false } }
    /// Whether not even a confirmation allows it.
    public var isDenied: Bool { if case .deny = self { true } else { false } }
}

/// The caller lacks the right to do something.
public struct AccessFailure: Failure, Hashable {
    /// The rule that refuses the request; the first half of the message.
    public let rule: String
    /// What would allow it; the second half of the message.
    public let mend: String

    /// The message consists of both texts, separated by a semicolon.
    public init(rule: String, mend: String) {
        self.rule = rule
        self.mend = mend
    }

    public var code: String { "access.denied" }
    /// The rights are wrong, such as a bundle with too few permissions; no credential is missing.
    public var exit: ExitCode { .usage }
    public var message: String { "\(rule); \(mend)" }
}

/// A tool call of a model, with everything that decides whether it is allowed.
public struct ToolUse: Sendable, Hashable {
    /// The name of the tool.
    public let tool: String
    /// The name of the source that offers the tool.
    public let source: String
    /// The strongest effect that the tool can have.
    public let effect: Effect
    /// Whether it sends something off this machine, or costs something.
    public let sends: Bool
    /// What the call would reach.
    public let reach: ToolReach
    /// How far the model may go where no rule applies. Nil if no mode allows the tool, so that only a rule or a grant can,
    /// as for a server whose own description of a tool cannot be trusted.
    public let mode: ToolMode?
    /// The verdict of the person's rules; nil if no rule applies.
    public let ruling: ApprovalVerdict?

    /// By default the call reaches nothing and no rule applies.
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

/// The verdict of a rule about tools.
public enum ApprovalVerdict: String, Choice, Hashable {
    /// Run the call, ask the person first, or refuse it.
    case allow, ask, deny
}

/// What an action changes, which determines who must agree to it.
public enum Effect: String, Choice, Hashable {
    /// Nothing is changed.
    case reads
    /// Something is created, sent or changed.
    case writes
    /// Something is lost and cannot be restored.
    case destroys
}

extension Effect: Comparable {
    /// Ordered by severity.
    public static func < (left: Effect, right: Effect) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .reads: 0
        case .writes: 1
        case .destroys: 2
        }
    }
}

/// What a client of one of our servers may do there.
public enum ClientScope: String, Choice, Hashable {
    /// Ask models and run turns.
    case chat
    /// Read projects, sessions, files and usage.
    case read
    /// Approve what a model wants to do, or do it directly.
    case approve
    /// Change what is allowed: rules and projects.
    case admin
}
