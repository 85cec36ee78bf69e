/// Somebody who vouches for people: Google, the company's own directory.
public struct SignInProvider: Sendable, Hashable {
    /// What `loginURL` is given.
    public let alias: String
    /// What people know it by.
    public let name: String
    /// What it is: `google`, `oidc`, `saml`.
    public let kind: String?
}

extension SignInProvider {
    /// Nil when it is switched off, or has no alias to name it by.
    init?(_ members: Members) {
        guard let alias = members.text("alias"), members.flag("enabled") ?? true else { return nil }
        self.alias = alias
        name = members.text("displayName", "display_name") ?? alias
        kind = members.text("providerId", "provider_id")
    }
}
