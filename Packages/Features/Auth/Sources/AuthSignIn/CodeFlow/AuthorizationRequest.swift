public import Capabilities
public import HTTPClient

/// The address to which a person's browser is sent to sign in (RFC 6749, section 4.1.1).
public struct AuthorizationRequest: Sendable {
    public let url: HTTPURL

    /// - Parameter extra: what a server understands beyond the standard, such as `kc_idp_hint` or `login_hint`.
    public init(
        at endpoint: HTTPURL, clientID: String, redirectURI: HTTPURL, scopes: [String], state: Secret, nonce: Secret?,
        pkce: PKCE, extra: [(name: String, value: String)] = []
    ) throws {
        var fields: FormFields = [
            "response_type": "code", "client_id": clientID, "redirect_uri": redirectURI.text,
            "code_challenge": pkce.challenge, "code_challenge_method": "S256",
        ]
        if !scopes.isEmpty { fields.append("scope", scopes.joined(separator: " ")) }
        state.withText { fields.append("state", $0) }
        nonce?.withText { fields.append("nonce", $0) }
        // What is sent twice must be refused by a server, so nothing can take the place of the parameters above.
        for (name, value) in extra where fields.all(name).isEmpty { fields.append(name, value) }
        url = try HTTPURL("\(endpoint.text)\(endpoint.query == nil ? "?" : "&")\(fields.text)")
    }
}
