public import Capabilities
public import HTTPCore
import Synchronization

/// A request as a handler sees it.
public struct ServerRequest: Sendable {
    // One object instead of a dozen strings, so that handing the request on costs a reference.
    private let facts: Facts

    private final class Facts: Sendable {
        let head: HTTPRequestHead
        let id: String
        let connection: Connection
        let number: Int
        let principal: Principal?
        let bodyLimit: Int

        init(
            _ head: HTTPRequestHead, _ id: String, _ connection: Connection, _ number: Int, _ principal: Principal?,
            _ bodyLimit: Int
        ) {
            (self.head, self.id, self.connection, self.number) = (head, id, connection, number)
            (self.principal, self.bodyLimit) = (principal, bodyLimit)
        }
    }

    init(
        _ head: HTTPRequestHead, id: String, _ connection: Connection, number: Int, principal: Principal? = nil,
        bodyLimit: Int? = nil
    ) {
        facts = Facts(head, id, connection, number, principal, bodyLimit ?? connection.core.limits.body)
    }

    public var head: HTTPRequestHead { facts.head }
    /// Names this request in answers, spans and logs.
    public var id: String { facts.id }
    public var method: HTTPMethod { facts.head.method }
    public var headers: HTTPHeaders { facts.head.headers }
    /// Whom the authenticator recognised; nil on open routes and where there is no authenticator.
    public var principal: Principal? { facts.principal }
    /// The body, read while it comes.
    public var body: RequestBody { RequestBody(connection: connection, number: number, limit: bodyLimit) }
    /// Whether the connection is encrypted.
    public var isSecure: Bool { connection.listener.isSecure }
    /// Whether the server ends: nothing long should be begun any more.
    public var isServerEnding: Bool { connection.core.isEnding.load(ordering: .relaxed) }
    /// Who is at the other end.
    public var peer: PeerAddress { connection.peer }

    var bodyLimit: Int { facts.bodyLimit }
    var connection: Connection { facts.connection }
    var number: Int { facts.number }
}

/// Somebody who was recognised.
public struct Principal: Sendable, Hashable {
    /// The name for logs and spans; never a credential.
    public let name: String
    /// What this one may do.
    public let grant: Grant
    /// What tells its credential from another one of the same name, such as a digest of it; nil where the name is enough.
    public let credential: String?

    public init(_ name: String, grant: Grant = .person, credential: String? = nil) {
        self.name = name
        self.grant = grant
        self.credential = credential
    }
}
