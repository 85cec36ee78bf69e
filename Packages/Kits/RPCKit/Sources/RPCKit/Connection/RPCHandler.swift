import Capabilities
public import JSON

/// Takes what a peer asks for and tells.
public protocol RPCHandler: Sendable {
    /// Answers a request. It runs in a task of its own, which is cancelled when the peer cancels the request, or is gone.
    ///
    /// - Throws: `RPCError` for the peer; it gets any other error as an internal one, with its message.
    func answer(_ request: RPCRequest) async throws -> JSON

    /// A notification that is none of the conventions, in the order in which it came. The next message waits meanwhile.
    func receive(_ notification: RPCNotification)

    /// The peer broke the protocol. Nothing is lost by it but what it sent.
    func tell(_ problem: RPCProblem)
}

extension RPCHandler {
    /// By default there are no methods.
    public func answer(_ request: RPCRequest) async throws -> JSON { throw RPCError.noMethod(request.method) }
    /// By default nothing is done with it.
    public func receive(_ notification: RPCNotification) {}
    /// By default nobody is told.
    public func tell(_ problem: RPCProblem) {}
}

/// How a peer breaks the protocol.
public enum RPCProblem: Sendable, Hashable, CustomStringConvertible {
    /// It sent something that is no message.
    case malformed(RPCMalformed)
    /// It answered a request that was never made.
    case unknownID(RPCID)
    /// It reported an error that belongs to no request.
    case errorWithoutID(RPCError)
    /// It sent a second request with an id that is not answered yet.
    case repeatedID(RPCID)
    /// It sent more requests at once than this limit.
    case tooManyRequests(Int)

    public var description: String {
        switch self {
        case .malformed(let malformed):
            "it sent what is no message (\(PlainText.escape(malformed.error.message))): \(malformed.excerpt)"
        case .unknownID(let id): "it answered the request \(PlainText.escape(id.description)), which was not made"
        case .errorWithoutID(let error): "it reported an error: \(PlainText.escape(error.message)) (\(error.code))"
        case .repeatedID(let id):
            "it used the id \(PlainText.escape(id.description)) again before the first request was answered"
        case .tooManyRequests(let limit): "it sent more than \(limit) requests at once, which is the limit"
        }
    }
}
