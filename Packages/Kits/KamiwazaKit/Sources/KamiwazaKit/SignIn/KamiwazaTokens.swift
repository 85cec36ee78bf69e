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
