public import Capabilities
public import HTTPClient
import HTTPCore
import JSON

/// The address at which a server gives tokens for codes and for older tokens (RFC 6749).
public struct TokenEndpoint: Sendable {
    let url: HTTPURL
    let clientID: String
    let client: HTTPClient
    let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - clientID: by what name this program is known to the server. It has no secret: it could not keep one.
    ///   - now: the time of day, from which expiries are counted.
    public init(
        _ url: HTTPURL, clientID: String, client: HTTPClient, now: @escaping @Sendable () -> Timestamp
    ) {
        self.url = url
        self.clientID = clientID
        self.client = client
        self.now = now
    }

    /// The tokens for a code that came in a redirect.
    public func exchange(code: Secret, redirectURI: HTTPURL, pkce: PKCE) async throws -> TokenAnswer {
        var fields: FormFields = ["grant_type": "authorization_code", "redirect_uri": redirectURI.text]
        code.withText { fields.append("code", $0) }
        pkce.verifier.withText { fields.append("code_verifier", $0) }
        return try await tokens(fields, hiding: [code, pkce.verifier], for: "the sign-in")
    }

    /// Newer tokens for a refresh token. `SignInError.refused` means that it will never be taken again.
    public func renew(_ refreshToken: Secret) async throws -> TokenAnswer {
        var fields: FormFields = ["grant_type": "refresh_token"]
        refreshToken.withText { fields.append("refresh_token", $0) }
        return try await tokens(fields, hiding: [refreshToken], for: "to renew the session")
    }

    func tokens(_ fields: FormFields, hiding secrets: [Secret], for purpose: String) async throws -> TokenAnswer {
        var fields = fields
        fields.append("client_id", clientID)
        let response = try await client.post(fields, to: url)
        guard response.status.isSuccess else {
            throw Refusal(response, hiding: secrets).error(purpose)
        }
        return try TokenAnswer(try response.jsonObject(), received: now())
    }
}

/// What a server hands out after signing in or renewing.
public struct TokenAnswer: Sendable {
    public let accessToken: Secret
    public let refreshToken: Secret?
    /// Counted from `received`; nil where the server does not say, or says nonsense.
    public let expiry: Timestamp?
    public let received: Timestamp
    /// Says who signed in; see `IDToken`.
    public let idToken: Secret?
    /// What the token is good for, where that differs from what was asked.
    public let scope: String?

    /// From what another kind of sign-in gave.
    public init(
        accessToken: Secret, refreshToken: Secret?, expiresIn: Double?, received: Timestamp, idToken: Secret? = nil,
        scope: String? = nil
    ) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.received = received
        self.idToken = idToken
        self.scope = scope
        expiry = expiresIn.flatMap { seconds in
            // Ten years are as good as for ever, and more would not fit.
            guard seconds > 0, seconds < 315_360_000 else { return nil }
            return Timestamp(microseconds: received.microseconds + Int64(seconds * 1_000_000))
        }
    }

    /// Reads the answer of a token endpoint (RFC 6749, section 5.1).
    init(_ json: JSON, received: Timestamp) throws(SignInError) {
        guard let token = json["access_token"]?.string, !token.isEmpty else {
            throw SignInError(.badAnswer, "the server answered the sign-in without an access token")
        }
        guard json["token_type"]?.string?.lowercased() == "bearer" else {
            throw SignInError(.badAnswer, "the server answered with a kind of token that is not Bearer")
        }
        self.init(
            accessToken: Secret(token), refreshToken: Self.secret(json["refresh_token"]?.string),
            // Some servers write the number as text.
            expiresIn: json["expires_in"]?.double ?? json["expires_in"]?.string.flatMap { Double($0) },
            received: received, idToken: Self.secret(json["id_token"]?.string), scope: json["scope"]?.string)
    }

    /// Reads tokens that came in a redirect.
    init?(_ fields: FormFields, received: Timestamp) {
        guard let token = fields["access_token"] else { return nil }
        if let type = fields["token_type"], type.lowercased() != "bearer" { return nil }
        self.init(
            accessToken: Secret(token), refreshToken: Self.secret(fields["refresh_token"]),
            expiresIn: fields["expires_in"].flatMap { Double($0) }, received: received,
            idToken: Self.secret(fields["id_token"]), scope: fields["scope"])
    }

    private static func secret(_ text: String?) -> Secret? {
        text.flatMap { $0.isEmpty ? nil : Secret($0) }
    }
}
