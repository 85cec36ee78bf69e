public import Capabilities
import HTTPClient
import HTTPCore
import JSON

/// How this program is known to the servers that sign in the users of resources.
public struct ResourceClient: Sendable {
    /// The name of this program for people.
    public var name: String
    /// The clients that the person has registered by hand. Of two that fit equally well the later one counts.
    public var known: [KnownClient]
    /// The address of a document that describes this program. It is a client id where servers accept that.
    public var document: String?
    /// Looks the secret of a known client up.
    public var secret: @Sendable (SecretName) async throws -> Secret?

    /// A program that registers itself where servers let it, unless more is given.
    public init(
        name: String, known: [KnownClient] = [], document: String? = nil,
        secret: @escaping @Sendable (SecretName) async throws -> Secret? = { _ in nil }
    ) {
        self.name = name
        self.known = known
        self.document = document
        self.secret = secret
    }

    /// How the user is going to sign in.
    enum Way {
        case browser(redirectURI: HTTPURL)
        case device
    }

    /// The client to use at a server for a resource, in the order that the protocol prefers.
    ///
    /// - Throws: `SignInError` if the server must know the program before and does not.
    func credential(
        at configuration: OpenIDConfiguration, for url: HTTPURL, _ way: Way, scopes: [String], using client: HTTPClient
    ) async throws -> ClientCredential {
        if let known = try known(for: url, issuer: configuration.issuer) {
            return try await credential(of: known, by: ClientCredential.Method.first(of: configuration.clientMethods))
        }
        if let document, configuration.acceptsClientDocuments {
            return ClientCredential(id: try Self.documentID(document))
        }
        guard let endpoint = configuration.registrationEndpoint else {
            let issuer = ServerText.line(configuration.issuer) ?? "the server"
            throw SignInError(
                .client,
                "\(issuer) does not know this program and does not let it register itself; register it there and add "
                    + #"{"issuer": "\#(issuer)", "client-id": "ID"} to the setting auth.resource-clients"#)
        }
        return ClientCredential(id: try await register(at: endpoint, way, scopes: scopes, using: client))
    }

    // MARK: Clients that are registered by hand

    private func known(for url: HTTPURL, issuer: String) throws -> KnownClient? {
        guard !known.isEmpty else { return nil }
        let issuer = try HTTPURL(issuer)
        var best: (client: KnownClient, fit: Int)?
        for client in known {
            guard let fit = try client.fit(url, issuer: issuer), fit >= best?.fit ?? 0 else { continue }
            best = (client, fit)
        }
        return best?.client
    }

    private func credential(of known: KnownClient, by method: ClientCredential.Method?) async throws -> ClientCredential
    {
        guard let name = known.secret else { return ClientCredential(id: known.id) }
        let issuer = PlainText.escape(known.issuer ?? "the server", limit: 200)
        guard let method else {
            throw SignInError(
                .client,
                "\(issuer) accepts secrets of clients in no way that this program knows; register a client "
                    + "without a secret there")
        }
        guard let secret = try await secret(name) else {
            throw SignInError(
                .client,
                "the secret \(PlainText.escape(name.text).quotedForMessage) of the client that \(issuer) knows is not in "
                    + "the vault; store it: martlet auth secret set \(PlainText.escape(name.text))")
        }
        return ClientCredential(id: known.id, proof: .init(secret: secret, method: method))
    }

    /// The client of a stored credential, with its secret if it has one.
    func credential(of stored: ResourceCredential, for url: HTTPURL) async throws -> ClientCredential {
        guard let method = stored.method else { return ClientCredential(id: stored.clientID) }
        guard let known = try known(for: url, issuer: stored.issuer), known.id == stored.clientID else {
            throw SignInError(
                .client,
                "the client \(PlainText.escape(stored.clientID, limit: 60).quotedForMessage) is no longer in the setting "
                    + "auth.resource-clients, so that the session cannot be renewed; add it, or sign in again")
        }
        return try await credential(of: known, by: method)
    }

    /// Whether a stored credential belongs to the client that would be used now.
    func uses(_ stored: ResourceCredential, for url: HTTPURL) throws -> Bool {
        guard let known = try known(for: url, issuer: stored.issuer) else { return true }
        return known.id == stored.clientID
    }

    // MARK: Other clients

    private static func documentID(_ text: String) throws(SignInError) -> String {
        guard let url = try? HTTPURL(text), url.scheme == .https, url.path != "/" else {
            throw SignInError(
                .client,
                "\(PlainText.escape(text, limit: 200).quotedForMessage) in auth.client-id-document cannot be a client id; "
                    + "it needs an address with https:// and a path")
        }
        return url.text
    }

    private func register(
        at endpoint: HTTPURL, _ way: Way, scopes: [String], using client: HTTPClient
    ) async throws -> String {
        var members: JSONObject = [
            "client_name": .string(name), "token_endpoint_auth_method": "none", "application_type": "native",
        ]
        switch way {
        case .browser(let redirectURI):
            members["redirect_uris"] = [.string(redirectURI.text)]
            members["grant_types"] = ["authorization_code", "refresh_token"]
            members["response_types"] = ["code"]
        case .device:
            members["grant_types"] = [.string(DeviceFlow.grantType), "refresh_token"]
            // Otherwise it would be a client that needs redirects (RFC 7591, section 2).
            members["response_types"] = []
        }
        if !scopes.isEmpty { members["scope"] = .string(scopes.joined(separator: " ")) }
        var request = HTTPRequest(
            .post, endpoint, headers: ["Content-Type": "application/json", "Accept": "application/json"],
            body: .text(JSON.object(members).text()))
        request.redirects = .none
        let response = try await client.answer(to: request)
        guard response.status.isSuccess else { throw Refusal(response, hiding: []).error("to register this program") }
        let answer = try response.jsonObject()
        guard let id = answer["client_id"]?.string, !id.isEmpty else {
            throw SignInError(.badAnswer, "\(endpoint.server) registered this program without a client id")
        }
        // A program on the user's machine cannot keep a secret that it gets by itself.
        guard answer["token_endpoint_auth_method"]?.string ?? "none" == "none" else {
            throw SignInError(
                .badAnswer, "\(endpoint.server) wants a secret of this program, which it could not keep")
        }
        return id
    }
}
