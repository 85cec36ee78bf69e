/// Signs requests to servers, and reacts when a server refuses one.
public protocol Authenticator: AnyObject, Sendable {
    /// Adds the credential for the server to the request, or leaves it unchanged if there is none.
    func sign(_ request: inout RequestHead, for server: ServerID) async throws
    /// Called after a 401 with the signed request. Returns true if another credential is available now, so that the
    /// request can be signed and sent once more.
    func renew(_ refused: RequestHead, for server: ServerID) async throws -> Bool
}

/// The profile or provider that a request is for.
public struct ServerID: Sendable, Hashable, CustomStringConvertible {
    /// The name of the profile, or the id of the provider.
    public let name: String

    /// Takes the name of a profile or the id of a provider.
    public init(_ name: String) {
        self.name = name
    }

    public var description: String { name }
}

/// The parts of a request that are signed.
public struct RequestHead: Sendable {
    /// The HTTP method in capitals.
    public var method: String
    /// The whole URL, including the query.
    public var url: String
    /// In the order in which they are sent. A value may be secret.
    public var headers: [(name: String, value: Secret)]

    /// By default it has no headers; an authenticator adds some.
    public init(method: String, url: String, headers: [(name: String, value: Secret)] = []) {
        self.method = method
        self.url = url
        self.headers = headers
    }
}
