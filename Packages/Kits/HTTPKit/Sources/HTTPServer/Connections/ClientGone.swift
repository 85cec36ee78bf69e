public import Capabilities

/// The client cannot be answered any more: it went away, or it does not read.
public struct ClientGone: Failure, Hashable {
    public let message: String

    public var code: String { "server.client-gone" }
    public var exit: ExitCode { .unreachable }

    static let closed = ClientGone(message: "the client closed the connection before it had the whole answer")
    static let stalled = ClientGone(message: "the client did not read its answer for too long, and was dropped")
    static let silent = ClientGone(message: "the client gave no sign of life when it was asked for one")
    static let finished = ClientGone(message: "the answer was finished before; nothing can be added to it")
}
