import Synchronization

/// How many actions and tool calls may be done within a grant, and for how long, counted for all who act by it. Tokens and
/// cost are limited by the budgets of the gateway.
public final class GrantLimits: Sendable {
    public let calls: Int?
    public let time: Duration?
    private let used = Atomic(0)
    private let start = ContinuousClock.now

    /// Begins to count; nil where there is nothing to limit.
    public init?(calls: Int?, time: Duration?) {
        if calls == nil, time == nil { return nil }
        (self.calls, self.time) = (calls, time)
    }

    /// Counts one use.
    ///
    /// - Returns: what would be too much, and the name of the limit; nil where it may be done.
    func use() -> (what: String, limit: String)? {
        if let time, ContinuousClock.now - start >= time { return ("go on for longer than \(time.words)", "time") }
        guard let calls else { return nil }
        let before = used.add(1, ordering: .relaxed).oldValue
        return before < calls ? nil : ("do more than \(calls) actions and tool calls", "calls")
    }
}

extension GrantLimits: Hashable {
    /// Two are the same where they count together.
    public static func == (one: GrantLimits, other: GrantLimits) -> Bool { one === other }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
