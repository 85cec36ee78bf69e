import Capabilities
import HTTPCore
import RPCKit

/// What a legacy server knows a client by, from its handshake on.
final class HTTPSession: Sendable {
    /// Nil for a server that keeps nothing.
    let id: String?
    /// Settled when it is over.
    let end = Promise<Void>()

    private static let header = "MCP-Session-Id"
    private static let longest = 4 << 10

    init(_ id: String?) {
        self.id = id
    }

    /// The session that the answer to a handshake begins.
    convenience init(_ headers: HTTPHeaders) throws(RPCFailure) {
        let id = headers[Self.header]
        // "The session ID MUST only contain visible ASCII characters (ranging from 0x21 to 0x7E)."
        guard id.map({ $0.utf8.allSatisfy { 0x21...0x7E ~= $0 } && 1...Self.longest ~= $0.utf8.count }) ?? true else {
            throw RPCFailure(.malformed, "its session id is empty, too long or has characters that are not allowed")
        }
        self.init(id)
    }

    /// The headers of a request that belongs to it.
    func headers(_ version: MCPVersion?) -> HTTPHeaders {
        var headers: HTTPHeaders = [:]
        headers[Self.header] = id
        headers["MCP-Protocol-Version"] = version?.rawValue
        return headers
    }
}
