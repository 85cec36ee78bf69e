public import Capabilities

/// The facts of a personal access token. The token itself is shown only once, when it is created.
public struct PersonalToken: Sendable, Hashable {
    /// The id that revokes it.
    public let id: String
    /// The name that the user gave it; nil if it has none.
    public let name: String?
    /// Its scope in the platform's words; nil if the server does not report it.
    public let scope: String?
    /// When it was created; nil if the server does not report it.
    public let created: Timestamp?
    /// Nil when it does not expire, or the server does not report the expiry.
    public let expires: Timestamp?
    /// Whether it was revoked, so that it is no longer accepted.
    public let isRevoked: Bool
}

/// A new personal access token.
public struct NewPersonalToken: Sendable {
    /// The token itself, which cannot be shown again.
    public let token: Secret
    /// The facts that the list of tokens also has.
    public let facts: PersonalToken
}

extension PersonalToken {
    init(_ members: Members) throws(KamiwazaError) {
        id = try members.requiredText("jti", "id")
        name = members.text("name")
        scope = members.text("scope")
        let created = members.time("created_at")
        self.created = created
        let lifetime = members.seconds("ttl_seconds")
        expires = members.time("exp", "expires_at") ?? created.flatMap { start in lifetime.map { start.after($0) } }
        isRevoked = members.flag("revoked") ?? false
    }
}

extension Timestamp {
    fileprivate func after(_ duration: Duration) -> Timestamp {
        Timestamp(microseconds: microseconds + duration.components.seconds * 1_000_000)
    }
}
