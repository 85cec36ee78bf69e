public import Capabilities
public import HTTPClient
import JSON

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

extension Session {
    private static let version = 1

    /// The session as one text, which is itself a secret: what a vault keeps.
    public var encoded: Secret {
        var members: JSONObject = ["version": .int(Self.version), "origin": .string(origin)]
        members["access_token"] = accessToken.withText { .string($0) }
        members["refresh_token"] = refreshToken?.withText { .string($0) }
        members["expires"] = expiry?.json
        members["received"] = received?.json
        members["user"] = userName.map { .string($0) }
        switch kind {
        case .tokens: members["kind"] = "tokens"
        case .personal(let id, let name):
            members["kind"] = "personal"
            members["id"] = id.map { .string($0) }
            members["name"] = name.map { .string($0) }
        }
        if hasEnded { members["ended"] = true }
        return Secret(JSON.object(members).text())
    }

    /// Reads what `encoded` made. Members of a later version are passed over; one that changed the meaning of those
    /// known here has another number, and is refused.
    public init(encoded: Secret) throws(SignInError) {
        let members = try encoded.withText { (text) throws(SignInError) -> JSON in
            // The parser's own error might quote the text, so it is not kept.
            do { return try JSON(parsing: text) } catch { throw Self.unreadable("it is damaged") }
        }
        guard let version = members["version"]?.int else { throw Self.unreadable("it names no version") }
        guard version == Self.version else { throw Self.unreadable("another version of this program has written it") }
        guard let origin = members["origin"]?.string, let token = members["access_token"]?.string, !token.isEmpty
        else { throw Self.unreadable("it lacks the token or its server") }
        let kind: Kind
        switch members["kind"]?.string {
        case "tokens": kind = .tokens
        case "personal": kind = .personal(id: members["id"]?.string, name: members["name"]?.string)
        default: throw Self.unreadable("its kind is not known")
        }
        func moment(_ name: String) throws(SignInError) -> Timestamp? {
            guard let value = members[name], !value.isNull else { return nil }
            do throws(ValueError) { return try Timestamp(json: value) } catch {
                throw Self.unreadable("one of its times is none")
            }
        }
        self.init(
            accessToken: Secret(token), refreshToken: members["refresh_token"]?.string.map(Secret.init),
            expiry: try moment("expires"), received: try moment("received"), kind: kind, origin: origin,
            userName: members["user"]?.string)
        hasEnded = members["ended"]?.bool ?? false
    }

    private static func unreadable(_ reason: String) -> SignInError {
        SignInError(.unreadable, "the stored session cannot be read: \(reason); sign in again")
    }
}

extension Session {
    /// The server of an address as `https://host:port`: what a session is bound to.
    public static func origin(of url: HTTPURL) -> String {
        "\(url.scheme.rawValue)://\(url.server)"
    }

    /// Whether a request to this address may carry the session's token.
    public func isFor(_ url: HTTPURL) -> Bool {
        origin == Self.origin(of: url)
    }
}
