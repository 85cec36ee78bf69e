import Capabilities
import HTTPClient
import HTTPCore
import JSON

/// How a resource describes itself, and which servers sign its users in (RFC 9728).
struct ResourceDescription: Sendable, Hashable {
    /// The identifier of the resource, which every request for tokens names.
    let resource: String
    /// The issuers that it accepts tokens of.
    let issuers: [HTTPURL]
    /// The scopes that it announces.
    let scopes: [String]

    private static let wellKnown = "/.well-known/oauth-protected-resource"
}

extension ResourceDescription {
    /// Reads a document that was found for a resource.
    init(_ json: JSON, for url: HTTPURL) throws(SignInError) {
        let named = json["resource"]?.string ?? ""
        // RFC 9728, section 3.3: "If these values are not identical, the data contained in the response MUST NOT be
        // used." A server may describe all of its paths together.
        guard let identifier = try? HTTPURL(named), identifier.isSameOrigin(as: url), identifier.contains(url) else {
            throw SignInError(
                .issuer,
                "\(url.server) describes another resource (\(ServerText.line(named) ?? "unnamed")) than the one it is; "
                    + "do not sign in there")
        }
        var issuers: [HTTPURL] = []
        for text in json["authorization_servers"]?.array?.compactMap(\.string) ?? [] {
            guard let issuer = try? HTTPURL(text), OpenIDConfiguration.isSafe(issuer, for: url) else {
                throw SignInError(
                    .badAnswer, "\(url.server) names a sign-in server that is not reached by TLS")
            }
            issuers.append(issuer)
        }
        guard !issuers.isEmpty else {
            throw SignInError(.badAnswer, "\(url.server) does not say which server signs its users in")
        }
        resource = named
        self.issuers = issuers
        scopes = json["scopes_supported"]?.array?.compactMap(\.string) ?? []
    }

    /// Fetches the description of a resource, from where its challenge says or from the usual places.
    ///
    /// A resource of the time before there were descriptions is its own sign-in server.
    static func find(
        for url: HTTPURL, _ challenge: ResourceChallenge, using client: HTTPClient
    ) async throws -> ResourceDescription {
        for address in try addresses(for: url, challenge) {
            var request = HTTPRequest(.get, address, headers: ["Accept": "application/json"])
            request.redirects = .none
            let response = try await client.answer(to: request)
            guard response.status == .ok else { continue }
            return try ResourceDescription(try response.jsonObject(), for: url)
        }
        return ResourceDescription(resource: url.text, issuers: [try url.resolving("/")], scopes: [])
    }

    private static func addresses(for url: HTTPURL, _ challenge: ResourceChallenge) throws -> [HTTPURL] {
        guard let named = challenge.metadata else {
            let root = try url.resolving(wellKnown)
            return url.path == "/" ? [root] : [try url.resolving(wellKnown + url.path), root]
        }
        guard let address = try? HTTPURL(named), OpenIDConfiguration.isSafe(address, for: url) else {
            throw SignInError(
                .badAnswer, "\(url.server) describes itself at an address that is not reached by TLS")
        }
        return [address]
    }
}

extension HTTPURL {
    /// Whether another address of the same server is this one, or below it.
    func contains(_ other: HTTPURL) -> Bool {
        func parts(_ url: HTTPURL) -> [Substring] { url.path.split(separator: "/") }
        return parts(other).starts(with: parts(self)) && (query == nil || query == other.query)
    }
}
