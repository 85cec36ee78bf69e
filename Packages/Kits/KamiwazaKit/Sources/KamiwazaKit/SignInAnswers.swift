public import Capabilities
import HTTPClient

/// What signing in and refreshing give.
public struct KamiwazaTokens: Sendable {
    public let accessToken: Secret
    /// Nil when the session cannot be prolonged, or when the old one stays valid.
    public let refreshToken: Secret?
    public let idToken: Secret?
    /// How long the access token is valid from now on, where the server says so.
    public let lifetime: Duration?

    public init(accessToken: Secret, refreshToken: Secret? = nil, idToken: Secret? = nil, lifetime: Duration? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.idToken = idToken
        self.lifetime = lifetime
    }
}

extension KamiwazaTokens {
    init(_ response: HTTPResponse) throws(KamiwazaError) {
        let members = try response.members()
        let type = members.text("token_type")
        guard type == nil || type?.lowercased() == "bearer" else {
            throw KamiwazaError(
                .badAnswer, "\(response.url.server) gave a kind of token that this program cannot use; update it")
        }
        self.init(
            accessToken: try members.requiredSecret("access_token"), refreshToken: try members.secret("refresh_token"),
            idToken: try members.secret("id_token"), lifetime: members.seconds("expires_in"))
    }
}

/// Who is signed in.
public struct KamiwazaUser: Sendable, Hashable {
    public let name: String
    /// The account's id, which stays when the name changes.
    public let subject: String?
    public let email: String?
    public let groups: [String]
    public let roles: [String]
}

extension KamiwazaUser {
    init(_ members: Members) throws(KamiwazaError) {
        name = try members.requiredText("username", "preferred_username", "name", "email", "sub")
        subject = members.text("sub", "id")
        email = members.text("email")
        groups = members.texts("groups")
        roles = members.texts("roles")
    }
}

/// How a session ended.
public struct KamiwazaLogout: Sendable, Hashable {
    /// A page that ends the session of the browser too, where there is one.
    public let browserURL: String?
}

extension KamiwazaLogout {
    init() {
        browserURL = nil
    }

    init(_ members: Members) {
        browserURL = members.text("front_channel_logout_url")
    }
}

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
