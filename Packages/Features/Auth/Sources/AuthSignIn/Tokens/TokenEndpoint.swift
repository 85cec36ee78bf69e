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
