/// When a connection is tried again, given up, and asked for a sign of life. The defaults are rows D-02 and D-03.
public struct ConnectionPolicy: Sendable, Hashable {
    /// The waits after the first failure, the second, and so on; the last is kept.
    public var backoff: [Duration] = [1, 2, 4, 8, 16, 30].map { .seconds($0) }
    /// After how many failures in a row it ends.
    public var maximumFailures = 10
    /// Goes on at this pace instead of ending after the last failure.
    public var persistence: Duration?
    /// Without anything from the server for so long, the connection is taken for dead.
    public var silence: Duration = .seconds(45)
    /// After one change of the network, further ones are gathered for so long: a network comes back in several steps.
    public var settling: Duration = .seconds(2)
    /// How often a ping is sent.
    public var ping: Duration = .seconds(30)

    public init() {}

    /// The wait after so many failures in a row, or nil to give up.
    func wait(after failures: Int) -> Duration? {
        guard failures < maximumFailures else { return persistence }
        return backoff.isEmpty ? .zero : backoff[min(failures, backoff.count) - 1]
    }
}
