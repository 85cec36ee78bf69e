public import HTTPClient
import HTTPCore
import JSON

/// A server's description of how users can sign in (OpenID Connect Discovery, RFC 8414).
public struct OpenIDConfiguration: Sendable {
    /// The server's name for itself, exactly as written.
    public let issuer: String
    let authorizationEndpoint: HTTPURL?
    let tokenEndpoint: HTTPURL?
    let deviceAuthorizationEndpoint: HTTPURL?
    /// Whether users can sign in with a browser and a code protected by PKCE with S256.
    public let offersAuthorizationCode: Bool
    /// Whether users can sign in on another device (RFC 8628).
    public let offersDeviceCode: Bool
    /// Whether each redirect names the issuer (RFC 9207).
    public let promisesIssuer: Bool
    /// Where programs register themselves (RFC 7591).
    let registrationEndpoint: HTTPURL?
    /// Whether the address of a document that describes a program can be its client id.
    let acceptsClientDocuments: Bool
    /// How clients may prove who they are at the token endpoint; nil if it does not say.
    let clientMethods: [String]?
    /// The scopes that it announces.
    let scopes: [String]
}

extension OpenIDConfiguration {
    /// Reads a document found for `base`. Nil when it is not an OpenID configuration.
    init?(_ json: JSON, base: HTTPURL) throws(SignInError) {
        guard let issuer = json["issuer"]?.string else { return nil }
        // RFC 8414, section 3.3: the issuer "MUST be identical to the issuer identifier value into which the well-known
        // URI string was inserted". A trailing slash is ignored, because addresses often gain or lose one.
        guard let named = try? HTTPURL(issuer), named.query == nil, Self.bare(named) == Self.bare(base) else {
            let name = ServerText.line(issuer) ?? "unnamed"
            throw SignInError(
                .issuer, "\(base.server) gives the sign-in configuration of another server (\(name)); check the address"
            )
        }
        func endpoint(_ name: String) throws(SignInError) -> HTTPURL? {
            guard let text = json[name]?.string else { return nil }
            guard let url = try? HTTPURL(text), Self.isSafe(url, for: named) else {
                throw SignInError(
                    .badAnswer, "\(base.server) has an address for \(name) that does not use TLS")
            }
            return url
        }
        func list(_ name: String) -> [String]? { json[name]?.array?.compactMap(\.string) }
        self.issuer = issuer
        authorizationEndpoint = try endpoint("authorization_endpoint")
        tokenEndpoint = try endpoint("token_endpoint")
        deviceAuthorizationEndpoint = try endpoint("device_authorization_endpoint")
        offersAuthorizationCode =
            authorizationEndpoint != nil && tokenEndpoint != nil
            && list("response_types_supported")?.contains("code") ?? true
            && list("grant_types_supported")?.contains("authorization_code") ?? true
            // Without this list the server does not support PKCE (RFC 8414, section 2).
            && list("code_challenge_methods_supported")?.contains("S256") ?? false
        offersDeviceCode = deviceAuthorizationEndpoint != nil && tokenEndpoint != nil
        promisesIssuer = json["authorization_response_iss_parameter_supported"]?.bool ?? false
        registrationEndpoint = try endpoint("registration_endpoint")
        acceptsClientDocuments = json["client_id_metadata_document_supported"]?.bool ?? false
        clientMethods = list("token_endpoint_auth_methods_supported")
        scopes = list("scopes_supported") ?? []
    }

    static func bare(_ url: HTTPURL) -> Substring {
        var text = url.text[...]
        while text.hasSuffix("/") { text = text.dropLast() }
        return text
    }

    /// Codes and tokens need TLS, except inside one machine. A remote server must not send tokens to a program on this
    /// machine.
    static func isSafe(_ url: HTTPURL, for issuer: HTTPURL) -> Bool {
        if url.isLoopback { return issuer.isLoopback }
        return url.scheme == .https
    }
}

extension HTTPURL {
    /// Whether the address always leads to this machine.
    var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers.first == 127 && !numbers.contains(nil)
    }
}

extension OpenIDConfiguration {
    /// Fetches the sign-in configuration of a server. Nil when the server has none.
    ///
    /// Throws `SignInError` when the server is not reachable, or when its configuration must not be used.
    public static func discover(at base: HTTPURL, using client: HTTPClient) async throws -> OpenIDConfiguration? {
        for address in try addresses(of: base) {
            var request = HTTPRequest(.get, address, headers: ["Accept": "application/json"])
            request.redirects = .none
            let response = try await client.answer(to: request)
            if response.status.code == 429 || response.status.code >= 500 {
                throw SignInError(
                    .unreachable,
                    "\(base.server) answered \(response.status) to the request for its sign-in configuration")
            }
            // An HTML page or an error means that there is no configuration here.
            guard response.status == .ok, let json = try? response.jsonObject() else { continue }
            if let found = try OpenIDConfiguration(json, base: base) { return found }
        }
        return nil
    }

    /// OpenID Connect appends the well-known path to the issuer's path; RFC 8414 inserts both names before.
    private static func addresses(of base: HTTPURL) throws(HTTPError) -> [HTTPURL] {
        let issuer = bare(base)
        let root = "\(base.scheme.rawValue)://\(base.server)"
        var path = base.path[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        return [
            try HTTPURL("\(issuer)/.well-known/openid-configuration"),
            try HTTPURL("\(root)/.well-known/oauth-authorization-server\(path)"),
        ] + (path.isEmpty ? [] : [try HTTPURL("\(root)/.well-known/openid-configuration\(path)")])
    }
}
