public import Capabilities
public import HTTPCore
import Synchronization

/// A request as a handler sees it.
public struct ServerRequest: Sendable {
    // One object instead of a dozen strings, so that passing the request on costs one reference.
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

    /// The request line and the headers.
    public var head: HTTPRequestHead { facts.head }
    /// Identifies this request in responses, spans and logs.
    public var id: String { facts.id }
    /// The method of the request.
    public var method: HTTPMethod { facts.head.method }
    /// The headers of the request.
    public var headers: HTTPHeaders { facts.head.headers }
    /// The authenticated client; nil on open routes and without an authenticator.
    public var principal: Principal? { facts.principal }
    /// The body, read while it arrives.
    public var body: RequestBody { RequestBody(connection: connection, number: number, limit: bodyLimit) }
    /// Whether the connection is encrypted.
    public var isSecure: Bool { connection.listener.isSecure }
    /// Whether the server is shutting down; start no long work.
    public var isServerEnding: Bool { connection.core.isEnding.load(ordering: .relaxed) }
    /// The address of the client.
    public var peer: PeerAddress { connection.peer }

    var bodyLimit: Int { facts.bodyLimit }
    var connection: Connection { facts.connection }
    var number: Int { facts.number }
}

/// An authenticated client.
public struct Principal: Sendable, Hashable {
    /// The name for logs and spans; never a credential.
    public let name: String
    /// What this principal may do.
    public let grant: Grant
    /// Distinguishes its credential from others of the same name, such as by a digest; nil where the name is enough.
    public let credential: String?

    /// - Parameter grant: limits what the client's requests may do, within what the server itself may do.
    public init(_ name: String, grant: Grant = .person, credential: String? = nil) {
        self.name = name
        self.grant = grant
        self.credential = credential
    }
}

/// The body of a request, read while it arrives.
///
/// Data is received only when it is requested, so a slow handler slows the client. The unread rest is discarded if it
/// is small; otherwise the connection ends.
public struct RequestBody: AsyncSequence, Sendable {
    public typealias Element = [UInt8]

    let connection: Connection
    let number: Int
    let limit: Int

    /// The whole body. A body larger than the route's limit is refused with 413.
    public func bytes() async throws -> [UInt8] {
        var whole: [UInt8] = []
        while let piece = try await connection.nextPiece(of: number, limit: limit) {
            if whole.isEmpty { whole = piece } else { whole.append(contentsOf: piece) }
        }
        return whole
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: self)
    }

    /// Reads piece by piece.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let body: RequestBody

        public mutating func next() async throws -> [UInt8]? {
            try await body.connection.nextPiece(of: body.number, limit: body.limit)
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> [UInt8]? {
            try await body.connection.nextPiece(of: body.number, limit: body.limit)
        }
    }
}
