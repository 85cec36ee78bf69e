public import Capabilities
import HTTPClient

/// The tokens from signing in or refreshing.
public struct KamiwazaTokens: Sendable {
    /// Authenticates requests until its lifetime is over.
    public let accessToken: Secret
    /// Nil when the session cannot be renewed, or when the old refresh token stays valid.
    public let refreshToken: Secret?
    /// The OpenID token about the user; nil when the server sends none.
    public let idToken: Secret?
    /// The lifetime of the access token from now on, if the server reports it.
    public let lifetime: Duration?

    /// - Parameter lifetime: that of the access token from now on; nil if it is unknown.
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
                .badAnswer,
                "\(response.url.server) sent a token type that this program does not support; update this program")
        }
        self.init(
            accessToken: try members.requiredSecret("access_token"), refreshToken: try members.secret("refresh_token"),
            idToken: try members.secret("id_token"), lifetime: members.seconds("expires_in"))
    }
}

/// The signed-in user.
public struct KamiwazaUser: Sendable, Hashable {
    /// The name to show: the user name, or another name or the id if there is none.
    public let name: String
    /// The account id, which does not change with the name.
    public let subject: String?
    /// The email address; nil if the platform has none.
    public let email: String?
    /// The groups of the user, by the platform's names.
    public let groups: [String]
    /// The roles of the user, by the platform's names.
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

/// The result of ending a session.
public struct KamiwazaLogout: Sendable, Hashable {
    /// A page that also ends the browser's session, if there is one.
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

/// An identity provider, such as Google or a company directory.
public struct SignInProvider: Sendable, Hashable {
    /// The value for `loginURL`.
    public let alias: String
    /// The name to show.
    public let name: String
    /// The kind: `google`, `oidc`, `saml`.
    public let kind: String?
}

extension SignInProvider {
    /// Nil when it is disabled or has no alias.
    init?(_ members: Members) {
        guard let alias = members.text("alias"), members.flag("enabled") ?? true else { return nil }
        self.alias = alias
        name = members.text("displayName", "display_name") ?? alias
        kind = members.text("providerId", "provider_id")
    }
}
