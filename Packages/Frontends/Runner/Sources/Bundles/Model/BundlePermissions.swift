public import Capabilities

/// What a bundle may do. What is not said here fails; nobody is asked.
public struct BundlePermissions: Sendable, Hashable {
    /// The farthest that any action may go.
    public var effects = Effect.reads
    /// Actions that may do whatever they do: an id, or the beginning of one and `.*`.
    public var actions: [String] = []
    /// The servers that may be spoken to; every one when nil.
    public var hosts: [String]?
    /// The tools that models may use without being asked, as `source/tool` with `*`.
    public var tools: [String] = []

    public init() {}
}

extension Bundle {
    /// What its steps may do.
    public var grant: Grant {
        Grant(
            Grant.Layer(
                .bundle(name), effects: permissions.effects, actions: permissions.actions, hosts: permissions.hosts,
                tools: permissions.tools))
    }
}
