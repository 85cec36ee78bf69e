public import Capabilities

/// Gives a session another host when what the present one was made of has changed.
public protocol Renewal: Sendable {
    /// Whether something has changed. It is asked once a second at most, and has to be cheap.
    func isDue() -> Bool

    /// Another host, made of what there is now; what has changed is not told of again.
    func renewed(after present: Generation) -> RenewalOutcome
}

/// What came of a change.
public enum RenewalOutcome: Sendable {
    case renewed(Host, failure: (any Failure)?)
    /// The present one stays, and why: told once.
    case kept(String)
}
