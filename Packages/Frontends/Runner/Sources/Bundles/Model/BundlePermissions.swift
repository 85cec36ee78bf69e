public import Capabilities

/// What a bundle may do. What is not said here fails; nobody is asked.
public struct BundlePermissions: Sendable, Hashable {
    /// The farthest that any action may go.
    public var effects = Effect.reads
    /// Actions that may do whatever they do: an id, or the beginning of one and `.*`.
    public var actions: [String] = []
    /// The servers that may be spoken to; all that the person's settings name when nil.
    public var hosts: [String]?
    /// The tools that models may use without being asked, as `source/tool` with `*`.
    public var tools: [String] = []

    public init() {}

    /// Whether an action with that effect may run.
    public func allows(_ action: String, _ effect: Effect) -> Bool {
        effect.rank <= effects.rank || actions.contains { Self.fits($0, action) }
    }

    static func fits(_ pattern: String, _ action: String) -> Bool {
        if pattern == "*" { return true }
        guard pattern.hasSuffix(".*") else { return pattern == action }
        return action.hasPrefix(pattern.dropLast())
    }
}

extension Effect {
    fileprivate var rank: Int {
        switch self {
        case .reads: 0
        case .writes: 1
        case .destroys: 2
        }
    }
}
