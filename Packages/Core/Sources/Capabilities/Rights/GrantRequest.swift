/// What somebody wants to do, as a grant decides about it.
public enum GrantRequest: Sendable, Hashable {
    case action(String, Effect, ActionOffer)
    case host(String, port: Int)
    /// The address to which a server has led that may be spoken to by its name: whoever answers for the name may say that
    /// it is this machine.
    case address(String, port: Int, host: String)
    /// An absolute path without `.` and `..`.
    case path(String, PathPurpose)
    /// The value of a secret.
    case secret(SecretName)
    /// A secret that signs a request to the server that it was made for. It needs a caller, and no permission.
    case credential(SecretName)
    /// A program that our own code starts for its work. It needs a caller, and no permission.
    case child(String)
    /// A program that an action runs.
    case program(String)
    /// Whatever there is in the network, for a program that speaks to whom it wants.
    case network
    /// A route of a server of ours, which one of these scopes opens.
    case route(Set<ClientScope>)
    /// A tool that a model wants to use without anybody being asked.
    case tool(ToolUse)
}

/// To whom an action is offered besides the person. Each says so itself.
public enum ActionOffer: Sendable, Hashable {
    /// Models, too: it reads our own state.
    case models
    /// Bundles, by its effect or by its name.
    case bundles
    /// Bundles that name it, as it changes what others may do: settings, trust, keys, tokens, rules.
    case byName
}

/// Whether it may be done, with the rule that says so.
public enum GrantDecision: Sendable, Hashable {
    case allow(rule: String)
    /// Somebody has to agree first.
    case ask(rule: String)
    /// - Parameter mend: what would allow it.
    case deny(rule: String, mend: String)

    public var isAllowed: Bool { if case .allow = self { true } else { false } }
    public var isDenied: Bool { if case .deny = self { true } else { false } }
}

/// Something that a caller may not do.
public struct AccessFailure: Failure, Hashable {
    public let rule: String
    public let mend: String

    public init(rule: String, mend: String) {
        self.rule = rule
        self.mend = mend
    }

    public var code: String { "access.denied" }
    /// What was given the right is wrong, such as a bundle that says too little; no credential is missing.
    public var exit: ExitCode { .usage }
    public var message: String { "\(rule); \(mend)" }
}

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

/// What doing something changes, which decides who must agree to it.
public enum Effect: String, Choice, Hashable {
    /// Nothing is changed.
    case reads
    /// Something is made, sent or changed.
    case writes
    /// Something is lost that cannot be had back.
    case destroys
}

extension Effect: Comparable {
    /// By how far they go.
    public static func < (left: Effect, right: Effect) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .reads: 0
        case .writes: 1
        case .destroys: 2
        }
    }
}

/// What a client of a server of ours may do there.
public enum ClientScope: String, Choice, Hashable {
    /// Ask models, and have turns run.
    case chat
    /// Look at what there is: projects, sessions, files, usage.
    case read
    /// Agree to what a model wants to do, or do the like.
    case approve
    /// Change what is allowed: rules, projects.
    case admin
}
