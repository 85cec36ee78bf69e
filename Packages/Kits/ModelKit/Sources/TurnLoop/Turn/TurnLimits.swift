/// How far one turn may go.
public struct TurnLimits: Sendable, Hashable {
    /// How often the model is asked.
    public var rounds = 50
    /// How many calls of one answer are done.
    public var callsPerAnswer = 64
    /// How many calls that only read run at the same time.
    public var parallelCalls = 8
    /// How long one call may take.
    public var callTime: Duration = .seconds(30)
    /// How many bytes of one result the model is given.
    public var resultBytes = 50_000

    public init() {}
}
