import Capabilities

/// The one state that a feature is visibly in.
public enum FeatureState: Sendable, Hashable {
    case off(String)
    case starting
    case ok
    /// Something is missing or failing, and the feature is trying again.
    case degraded(String)
    case failed(String)
    case stopping
    case stopped

    /// The word that is shown.
    public var word: String {
        switch self {
        case .off: "off"
        case .starting: "starting"
        case .ok: "ok"
        case .degraded: "degraded"
        case .failed: "failed"
        case .stopping: "stopping"
        case .stopped: "stopped"
        }
    }

    /// Why, where there is something to say.
    public var reason: String? {
        switch self {
        case .off(let reason), .degraded(let reason), .failed(let reason): reason
        default: nil
        }
    }
}

/// What a running feature says of itself.
public enum Health: Sendable, Hashable {
    case ok
    case degraded(String)
}
