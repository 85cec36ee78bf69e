public import HTTPClient
import HTTPCore
import JSON

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
