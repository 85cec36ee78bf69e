import Synchronization

/// Limits the number of actions and tool calls within a grant, and their total time, counted across everyone who uses
/// the grant. The budgets of the gateway limit tokens and cost.
public final class GrantLimits: Sendable {
    /// The maximum number of actions and tool calls; nil for no limit.
    public let calls: Int?
    /// The time after which everything is refused, counted from the creation of this object; nil for no limit.
    public let time: Duration?
    private let used = Atomic(0)
    private let start = ContinuousClock.now

    /// Starts counting; nil if there is nothing to limit.
    public init?(calls: Int?, time: Duration?) {
        if calls == nil, time == nil { return nil }
        (self.calls, self.time) = (calls, time)
    }

    /// Counts one use.
    ///
    /// - Returns: what would exceed a limit, and the name of the limit; nil if the use is allowed.
    func use() -> (what: String, limit: String)? {
        if let time, ContinuousClock.now - start >= time { return ("run for longer than \(time.words)", "time") }
        guard let calls else { return nil }
        let before = used.add(1, ordering: .relaxed).oldValue
        return before < calls ? nil : ("do more than \(calls) actions and tool calls", "calls")
    }
}

extension GrantLimits: Hashable {
    /// Limits are equal if they share a count.
    public static func == (one: GrantLimits, other: GrantLimits) -> Bool { one === other }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
