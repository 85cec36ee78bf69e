public import HTTPClient
import HTTPCore
import JSON

/// What a server says about how people can sign in (OpenID Connect Discovery, RFC 8414).
public struct OpenIDConfiguration: Sendable {
    /// The server's own name, exactly as it writes it.
    public let issuer: String
    public let authorizationEndpoint: HTTPURL?
    public let tokenEndpoint: HTTPURL?
    public let deviceAuthorizationEndpoint: HTTPURL?
    /// Whether people can sign in with a browser and a code that PKCE protects by S256.
    public let offersAuthorizationCode: Bool
    /// Whether people can sign in on another device (RFC 8628).
    public let offersDeviceCode: Bool
    /// Whether each redirect names the issuer (RFC 9207).
    public let promisesIssuer: Bool
}

extension OpenIDConfiguration {
    /// Reads a document that was found for `base`. Nil where it is no such document at all.
    init?(_ json: JSON, base: HTTPURL) throws(SignInError) {
        guard let issuer = json["issuer"]?.string else { return nil }
        // RFC 8414, section 3.3: the issuer "MUST be identical to the issuer identifier value into which the
        // well-known URI string was inserted". A slash at the end, which addresses gain and lose, is not counted.
        guard let named = try? HTTPURL(issuer), named.query == nil, Self.bare(named) == Self.bare(base) else {
            let name = ForeignWords.line(issuer) ?? "nobody"
            throw SignInError(
                .issuer, "\(base.server) speaks for another server (\(name)) about signing in; check the address")
        }
        func endpoint(_ name: String) throws(SignInError) -> HTTPURL? {
            guard let text = json[name]?.string else { return nil }
            guard let url = try? HTTPURL(text), Self.isSafe(url, for: named) else {
                throw SignInError(
                    .badAnswer, "\(base.server) names an address for \(name) that is not protected by TLS")
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
            // Without the list a server does not support PKCE, says RFC 8414, section 2.
            && list("code_challenge_methods_supported")?.contains("S256") ?? false
        offersDeviceCode = deviceAuthorizationEndpoint != nil && tokenEndpoint != nil
        promisesIssuer = json["authorization_response_iss_parameter_supported"]?.bool ?? false
    }

    static func bare(_ url: HTTPURL) -> Substring {
        var text = url.text[...]
        while text.hasSuffix("/") { text = text.dropLast() }
        return text
    }

    /// Only TLS protects codes and tokens on their way; inside of one machine there is none. A server elsewhere has no
    /// business to send tokens to a program of this machine.
    private static func isSafe(_ url: HTTPURL, for issuer: HTTPURL) -> Bool {
        if url.isLoopback { return issuer.isLoopback }
        return url.scheme == .https
    }
}

extension HTTPURL {
    /// Whether the server can only be on this machine.
    var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        return numbers.count == 4 && numbers.first == 127 && !numbers.contains(nil)
    }
}

extension OpenIDConfiguration {
    /// Asks a server how people can sign in there; nil where it does not say.
    ///
    /// Throws `SignInError` where the server is not reached, or where what it says must not be used.
    public static func discover(at base: HTTPURL, using client: HTTPClient) async throws -> OpenIDConfiguration? {
        for address in try addresses(of: base) {
            var request = HTTPRequest(.get, address, headers: ["Accept": "application/json"])
            request.redirects = .none
            let response = try await client.answer(to: request)
            if response.status.code == 429 || response.status.code >= 500 {
                throw SignInError(
                    .unreachable, "\(base.server) answered \(response.status) when it was asked how to sign in")
            }
            // A page for people or an error means that there is no such document here.
            guard response.status == .ok, let json = try? response.jsonObject() else { continue }
            if let found = try OpenIDConfiguration(json, base: base) { return found }
        }
        return nil
    }

    /// OpenID Connect adds the well-known path behind the issuer's own, RFC 8414 puts it before.
    private static func addresses(of base: HTTPURL) throws(HTTPError) -> [HTTPURL] {
        let issuer = bare(base)
        let root = "\(base.scheme.rawValue)://\(base.server)"
        var path = base.path[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        return [
            try HTTPURL("\(issuer)/.well-known/openid-configuration"),
            try HTTPURL("\(root)/.well-known/oauth-authorization-server\(path)"),
        ]
    }
}
