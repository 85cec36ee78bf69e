/// Signs requests to servers, and says what to do when one refuses.
public protocol Authenticator: AnyObject, Sendable {
    /// Adds the credential for the server to the request, or leaves it alone when there is none.
    func sign(_ request: inout RequestHead, for server: ServerID) async throws
    /// Called after a 401 with the request as it was signed; true when there is another credential by now, so that the
    /// request may be signed anew and repeated once.
    func renew(_ refused: RequestHead, for server: ServerID) async throws -> Bool
}

/// The profile or provider that a request is meant for.
public struct ServerID: Sendable, Hashable, CustomStringConvertible {
    public let name: String

    public init(_ name: String) {
        self.name = name
    }

    public var description: String { name }
}

/// What of a request is signed.
public struct RequestHead: Sendable {
    public var method: String
    public var url: String
    /// In the order in which they are sent; a value may be secret.
    public var headers: [(name: String, value: Secret)]

    public init(method: String, url: String, headers: [(name: String, value: Secret)] = []) {
        self.method = method
        self.url = url
        self.headers = headers
    }
}
