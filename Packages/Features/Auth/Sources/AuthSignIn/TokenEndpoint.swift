public import Capabilities
public import HTTPClient
import HTTPCore
import JSON

/// The endpoint that exchanges codes and refresh tokens for tokens (RFC 6749).
public struct TokenEndpoint: Sendable {
    let url: HTTPURL
    /// The client that the tokens are for.
    let identity: ClientCredential
    let client: HTTPClient
    let now: @Sendable () -> Timestamp
    /// The resource that the tokens are for (RFC 8707), so that no other server accepts them.
    var resource: String?

    /// - Parameters:
    ///   - clientID: the client id of this program. There is no client secret, because this program could not keep one.
    ///   - now: the current time, from which expiries are computed.
    public init(
        _ url: HTTPURL, clientID: String, client: HTTPClient, now: @escaping @Sendable () -> Timestamp
    ) {
        self.init(url, as: ClientCredential(id: clientID), client: client, now: now)
    }

    init(
        _ url: HTTPURL, as identity: ClientCredential, client: HTTPClient, now: @escaping @Sendable () -> Timestamp
    ) {
        self.url = url
        self.identity = identity
        self.client = client
        self.now = now
    }

    /// Exchanges a code from a redirect for tokens.
    public func exchange(code: Secret, redirectURI: HTTPURL, pkce: PKCE) async throws -> TokenAnswer {
        var fields: FormFields = ["grant_type": "authorization_code", "redirect_uri": redirectURI.text]
        code.withText { fields.append("code", $0) }
        pkce.verifier.withText { fields.append("code_verifier", $0) }
        return try await tokens(fields, hiding: [code, pkce.verifier], for: "the sign-in")
    }

    /// Exchanges a refresh token for newer tokens. `SignInError.refused` means that the server will never accept it
    /// again.
    public func renew(_ refreshToken: Secret) async throws -> TokenAnswer {
        var fields: FormFields = ["grant_type": "refresh_token"]
        refreshToken.withText { fields.append("refresh_token", $0) }
        return try await tokens(fields, hiding: [refreshToken], for: "to renew the session")
    }

    func tokens(_ fields: FormFields, hiding secrets: [Secret], for purpose: String) async throws -> TokenAnswer {
        try TokenAnswer(
            try await post(fields, to: url, hiding: secrets, for: purpose).jsonObject(), received: now())
    }

    /// Posts a form in the name of the client, about the resource, to an endpoint of the same server.
    func post(
        _ fields: FormFields, to url: HTTPURL, hiding secrets: [Secret] = [], for purpose: String
    ) async throws -> HTTPResponse {
        var (fields, headers) = (fields, HTTPHeaders())
        identity.sign(&fields, &headers)
        if let resource { fields.append("resource", resource) }
        let response = try await client.post(fields, to: url, headers)
        guard response.status.isSuccess else {
            let hidden = identity.proof.map { secrets + [$0.secret] } ?? secrets
            throw Refusal(response, hiding: hidden).error(purpose)
        }
        return response
    }
}

/// The tokens from a server after signing in or renewing.
public struct TokenAnswer: Sendable {
    /// Sent with requests, as `Authorization: Bearer`.
    public let accessToken: Secret
    /// Renews the access token. Nil when the server sends none; after a renewal the former one stays valid.
    public let refreshToken: Secret?
    /// Computed from `received`. Nil when the server reports none or an invalid one.
    public let expiry: Timestamp?
    /// When the response arrived, by this machine's clock.
    public let received: Timestamp
    /// Identifies the signed-in user; see `IDToken`.
    public let idToken: Secret?
    /// The granted scope, if it differs from the requested one.
    public let scope: String?

    /// The tokens from another kind of sign-in.
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
            // A lifetime over ten years counts as unlimited, because it might overflow.
            guard seconds > 0, seconds < 315_360_000 else { return nil }
            return Timestamp(microseconds: received.microseconds + Int64(seconds * 1_000_000))
        }
    }

    /// Reads the response of a token endpoint (RFC 6749, section 5.1).
    init(_ json: JSON, received: Timestamp) throws(SignInError) {
        guard let token = json["access_token"]?.string, !token.isEmpty else {
            throw SignInError(.badAnswer, "unexpected response from the server: it has no access token")
        }
        guard json["token_type"]?.string?.lowercased() == "bearer" else {
            throw SignInError(.badAnswer, "unexpected response from the server: its token type is not Bearer")
        }
        self.init(
            accessToken: Secret(token), refreshToken: Self.secret(json["refresh_token"]?.string),
            // Some servers send the number as text.
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
