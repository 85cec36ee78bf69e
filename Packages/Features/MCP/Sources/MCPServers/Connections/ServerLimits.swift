public import Capabilities
import MCPKit
import RPCKit

/// How much servers may send and ask for, and how long they may take. Each is a setting, which the error names.
public struct ServerLimits: Sendable, Hashable {
    /// The largest message.
    public var message = ByteCount(16 << 20)
    /// The most tools, resources or prompts of a server.
    public var entries = 20_000
    /// The most pages of a list.
    public var pages = 100
    /// How long a server may take to start.
    public var start = Duration.seconds(30)
    /// How long a call may take without a sign of progress.
    public var call = Duration.seconds(30)
    /// How long a call may take in all.
    public var longestCall = Duration.seconds(600)
    /// How many requests may wait for a server.
    public var inFlight = 100
    /// How often a server is started again in ten minutes.
    public var restarts = 5
    /// How long the command may take that installs a server.
    public var install = Duration.seconds(600)
    /// How often a server may ask a model while it runs.
    public var samplingRequests = 10
    /// How many tokens the answers of models may have that a server asks for while it runs.
    public var samplingTokens = 50_000

    /// The limits of the program.
    public init() {}

    /// Those of the client of one server.
    func client(for entry: ServerEntry) -> MCPClient.Limits {
        var limits = MCPClient.Limits()
        limits.start = entry.startLimit ?? start
        limits.probe = min(limits.probe, limits.start)
        let silence = entry.callLimit ?? call
        limits.call = RPCTimeLimit(silence, upTo: max(silence, longestCall))
        (limits.pages, limits.entries) = (pages, entries)
        limits.connection = RPCConnection.Limits(calls: inFlight, requests: inFlight)
        return limits
    }

    /// The time in which restarts are counted.
    static let restartTime = Duration.seconds(600)
}
