public import Capabilities
public import HTTPClient
import JSON

/// The result of signing in: the credential for one server, and the facts about it.
public struct Session: Sendable {
    /// The kind of credential.
    public enum Kind: Sendable, Hashable {
        /// An access token that can be renewed for as long as the server allows.
        case tokens
        /// A personal access token, which is never renewed. `id` is the id that revokes it.
        case personal(id: String?, name: String?)
    }

    /// Sent as `Authorization: Bearer`.
    public var accessToken: Secret
    /// Renews the access token. Nil when the server issued none.
    public var refreshToken: Secret?
    /// Nil when the server does not report it. Then only a 401 shows that the token has expired.
    public var expiry: Timestamp?
    /// When the access token was received. Together with `expiry` it gives the lifetime of the token.
    public var received: Timestamp?
    /// Whether it can be renewed, and for a personal token how to revoke it.
    public var kind: Kind
    /// The only server that may receive it, as `https://host:port`.
    public let origin: String
    /// The name of the user, for display.
    public var userName: String?
    /// Whether the server has refused to renew it, so that the user must sign in again.
    public var hasEnded = false

    /// A session from its parts, such as a personal access token.
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

    /// A session from the response of a token endpoint.
    public init(_ answer: TokenAnswer, origin: String, userName: String? = nil) {
        self.init(
            accessToken: answer.accessToken, refreshToken: answer.refreshToken, expiry: answer.expiry,
            received: answer.received, origin: origin, userName: userName)
    }

    /// The same session with a newer access token. The old refresh token stays valid if the server sends no new one.
    public func renewed(by answer: TokenAnswer) -> Session {
        var session = self
        session.accessToken = answer.accessToken
        session.refreshToken = answer.refreshToken ?? refreshToken
        session.expiry = answer.expiry
        session.received = answer.received
        session.hasEnded = false
        return session
    }

    /// Whether the session can be renewed without the user.
    public var canBeRenewed: Bool { kind == .tokens && refreshToken?.isEmpty == false && !hasEnded }

    /// How long before its expiry a token is renewed.
    public static let margin: Duration = .seconds(30)

    /// Whether the access token has expired, or is so close to its expiry that a request might arrive too late.
    public func isStale(at now: Timestamp) -> Bool {
        guard let expiry else { return false }
        var margin = Self.margin
        // Otherwise a token with a shorter lifetime would be renewed for every request.
        if let received, received < expiry { margin = min(margin, (expiry - received) / 2) }
        return expiry - now <= margin
    }
}

extension Session {
    private static let version = 1

    /// The session as text for a vault. The text is itself a secret.
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

    /// Reads the result of `encoded`. Unknown members are ignored. A format with changed members has another version
    /// number, and is rejected.
    public init(encoded: Secret) throws(SignInError) {
        let members = try encoded.withText { (text) throws(SignInError) -> JSON in
            // The parser's error is dropped, because it might quote the text.
            do { return try JSON(parsing: text) } catch { throw Self.unreadable("it is damaged") }
        }
        guard let version = members["version"]?.int else { throw Self.unreadable("it has no version") }
        guard version == Self.version else {
            throw Self.unreadable("it was written by another version of this program")
        }
        guard let origin = members["origin"]?.string, let token = members["access_token"]?.string, !token.isEmpty
        else { throw Self.unreadable("the token or its server is missing") }
        let kind: Kind
        switch members["kind"]?.string {
        case "tokens": kind = .tokens
        case "personal": kind = .personal(id: members["id"]?.string, name: members["name"]?.string)
        default: throw Self.unreadable("its kind is unknown")
        }
        func moment(_ name: String) throws(SignInError) -> Timestamp? {
            guard let value = members[name], !value.isNull else { return nil }
            do throws(ValueError) { return try Timestamp(json: value) } catch {
                throw Self.unreadable("one of its times is not valid")
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
    /// The origin of an address, as `https://host:port`. A session is bound to it.
    public static func origin(of url: HTTPURL) -> String {
        "\(url.scheme.rawValue)://\(url.server)"
    }

    /// Whether a request to this address may carry the session's token.
    public func isFor(_ url: HTTPURL) -> Bool {
        origin == Self.origin(of: url)
    }
}
