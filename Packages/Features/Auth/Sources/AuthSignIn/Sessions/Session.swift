public import Capabilities

/// What somebody has after signing in: the credential for one server and what is known of it.
public struct Session: Sendable {
    /// What kind of credential it is.
    public enum Kind: Sendable, Hashable {
        /// An access token that is followed by others for as long as the server lets it be renewed.
        case tokens
        /// A personal access token, which is never renewed. `id` is what revokes it.
        case personal(id: String?, name: String?)
    }

    /// Sent as `Authorization: Bearer`.
    public var accessToken: Secret
    public var refreshToken: Secret?
    /// Nil where the server does not say; then only its 401 tells that the token is over.
    public var expiry: Timestamp?
    /// When the access token was received, which with `expiry` tells how long such a token lives.
    public var received: Timestamp?
    public var kind: Kind
    /// The only server that may see it, as `https://host:port`.
    public let origin: String
    /// The person, for display.
    public var userName: String?
    /// Whether the server has refused to renew it, so that only signing in again helps.
    public var hasEnded = false

    public init(
        accessToken: Secret, refreshToken: Secret? = nil, expiry: Timestamp? = nil, received: Timestamp? = nil,
        kind: Kind = .tokens, origin: String, userName: String? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiry = expiry
        self.received = received
        self.kind = kind
        self.origin = origin
        self.userName = userName
    }

    /// A session from what a token endpoint answered.
    public init(_ answer: TokenAnswer, origin: String, userName: String? = nil) {
        self.init(
            accessToken: answer.accessToken, refreshToken: answer.refreshToken, expiry: answer.expiry,
            received: answer.received, origin: origin, userName: userName)
    }

    /// The same session with a newer access token. A server that sends no new refresh token means the old one to stay.
    public func renewed(by answer: TokenAnswer) -> Session {
        var session = self
        session.accessToken = answer.accessToken
        session.refreshToken = answer.refreshToken ?? refreshToken
        session.expiry = answer.expiry
        session.received = answer.received
        session.hasEnded = false
        return session
    }

    /// Whether a newer access token can be had for this one without a person.
    public var canBeRenewed: Bool { kind == .tokens && refreshToken?.isEmpty == false && !hasEnded }

    /// How long before its expiry a token is renewed.
    public static let margin: Duration = .seconds(30)

    /// Whether the access token is over, or so near to it that a request might arrive too late.
    public func isStale(at now: Timestamp) -> Bool {
        guard let expiry else { return false }
        var margin = Self.margin
        // A token that lives shorter than that would otherwise be renewed at every request.
        if let received, received < expiry { margin = min(margin, (expiry - received) / 2) }
        return expiry - now <= margin
    }
}
