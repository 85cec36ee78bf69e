/// Signs requests to resources that say themselves where their users sign in, such as MCP servers, and signs in when
/// they ask for it.
///
/// An authenticator knows its servers by their settings; a resource is known by its address, and everything else comes
/// from an untrusted party. A credential is sent to the origin of the resource that it is for, and nowhere else.
public protocol ResourceSignIn: AnyObject, Sendable {
    /// Adds the credential for the resource to the request, or leaves it unchanged if there is none. The caller sends
    /// the request to the origin of the resource only.
    func sign(_ request: inout RequestHead, for resource: ResourceAddress) async throws

    /// Called when the resource has refused the signed request. It may renew the credential, or ask the person.
    ///
    /// - Returns: whether another credential is available now, so that the request can be signed and sent once more.
    /// - Throws: why there is none, such as that nobody is there to be asked. `CancellationError` when the task is
    ///   cancelled.
    func answer(
        _ challenge: ResourceChallenge, to refused: RequestHead, for resource: ResourceAddress
    ) async throws -> Bool

    /// Removes the credential for the resource from this machine.
    ///
    /// - Returns: whether there was one.
    func forget(_ resource: ResourceAddress) async throws -> Bool
}

/// The address of a resource, as it was configured.
public struct ResourceAddress: Sendable, Hashable, CustomStringConvertible {
    /// The whole URL.
    public let text: String

    /// Takes a URL.
    public init(_ text: String) {
        self.text = text
    }

    public var description: String { text }
}

/// Why a resource has refused a request, and what it wants instead (RFC 6750 and RFC 9728). All of it comes from an
/// untrusted party.
public struct ResourceChallenge: Sendable, Hashable {
    /// What is wrong.
    public enum Reason: Sendable, Hashable {
        /// There is no credential, or it is not valid: status 401.
        case signIn
        /// The credential does not allow this: status 403 with `insufficient_scope`.
        case moreScopes
    }

    /// What is wrong.
    public let reason: Reason
    /// Where the resource describes itself: `resource_metadata`.
    public let metadata: String?
    /// The scopes that the request needs.
    public let scopes: [String]
    /// The error code, such as `invalid_token`.
    public let error: String?
    /// What the resource says about it.
    public let explanation: String?

    /// What a resource wants.
    public init(
        _ reason: Reason, metadata: String? = nil, scopes: [String] = [], error: String? = nil,
        explanation: String? = nil
    ) {
        self.reason = reason
        self.metadata = metadata
        self.scopes = scopes
        self.error = error
        self.explanation = explanation
    }
}
