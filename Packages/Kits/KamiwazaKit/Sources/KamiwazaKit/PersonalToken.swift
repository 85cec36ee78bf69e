public import Capabilities

/// The facts of a personal access token. The token itself is shown only once, when it is created.
public struct PersonalToken: Sendable, Hashable {
    /// The id that revokes it.
    public let id: String
    public let name: String?
    public let scope: String?
    public let created: Timestamp?
    /// Nil when it does not expire, or the server does not report the expiry.
    public let expires: Timestamp?
    public let isRevoked: Bool
}

/// A new personal access token.
public struct NewPersonalToken: Sendable {
    public let token: Secret
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
