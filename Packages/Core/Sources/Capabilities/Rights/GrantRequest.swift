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
