/// Carries messages between two peers.
///
/// One task calls `run`; any number of tasks send meanwhile.
public protocol RPCTransport: Sendable {
    /// Carries messages until the peer or `close` ends it. Passes on what comes, in order; the next event waits meanwhile.
    ///
    /// - Throws: why it ended, unless the peer ended it in the usual way or `close` did.
    func run(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws

    /// Sends a message, or keeps it until the peer has room for it.
    ///
    /// - Throws: `RPCFailure` if the message cannot be sent any more, or if too much waits already.
    func send(_ message: RPCMessage) throws(RPCFailure)

    /// Lets `run` end.
    func close()
}

/// What comes from a transport.
public enum RPCEvent: Sendable {
    /// A message of the peer.
    case message(RPCMessage)
    /// The peer sent something else.
    case malformed(RPCMalformed)
    /// The request with this id will not be answered, or every request if it is not known which.
    case failed(RPCID?, any Error)
    /// The request with this id waits for a person, such as one who signs in, or no longer does. That time does not count.
    case waits(RPCID, Bool)
}
