import Synchronization

/// Limits the number of actions and tool calls within a grant, and their total time, counted across everyone who uses
/// the grant; and takes the grant back. The budgets of the gateway limit tokens and cost.
public final class GrantLimits: Sendable {
    /// The maximum number of actions and tool calls; nil for no limit.
    public let calls: Int?
    /// The time after which everything is refused, counted from the creation of this object; nil for no limit.
    public let time: Duration?
    private let used = Atomic(0)
    private let start = ContinuousClock.now
    private let withdrawn = Signal()

    /// The way in which a limit is exceeded.
    enum Excess {
        case calls(Int)
        case time(Duration)
        case withdrawn
    }

    /// Limits nothing until the grant is withdrawn.
    public init() {
        (calls, time) = (nil, nil)
    }

    /// Starts counting; nil if there is nothing to limit.
    public init?(calls: Int?, time: Duration?) {
        if calls == nil, time == nil { return nil }
        (self.calls, self.time) = (calls, time)
    }

    /// Refuses everything from now on, and closes the screens that are open with this grant.
    public func withdraw() { withdrawn.raise() }

    /// Counts one use.
    ///
    /// - Returns: the limit that it would exceed; nil if the use is allowed.
    func use() -> Excess? {
        if let end = excess { return end }
        guard let calls else { return nil }
        return used.add(1, ordering: .relaxed).oldValue < calls ? nil : .calls(calls)
    }

    /// Waits until nothing is allowed any more. Calls that are used up do not end what is already going on.
    func end() async throws -> Excess {
        try await withThrowingTaskGroup(of: Void.self) { [withdrawn] group in
            group.addTask { try await withdrawn.wait(beyond: 0) }
            if let time { group.addTask { [start] in try await ContinuousClock().sleep(until: start + time) } }
            defer { group.cancelAll() }
            try await group.next()
        }
        return excess ?? .withdrawn
    }

    /// What has ended the grant.
    private var excess: Excess? {
        if withdrawn.count > 0 { return .withdrawn }
        if let time, ContinuousClock.now - start >= time { return .time(time) }
        return nil
    }
}

extension GrantLimits: Hashable {
    /// Limits are equal if they share a count.
    public static func == (one: GrantLimits, other: GrantLimits) -> Bool { one === other }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
