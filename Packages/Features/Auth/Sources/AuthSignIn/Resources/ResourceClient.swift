public import HTTPClient
import HTTPCore
import JSON

/// How this program is known to the servers that sign in the users of resources.
public struct ResourceClient: Sendable {
    /// The client id that was registered by hand, if there is one.
    public var registered: String?
    /// The address of a document that describes this program. It is a client id where servers accept that.
    public var document: HTTPURL?
    /// The name of this program for people.
    public var name: String

    /// A program that registers itself where servers let it, unless more is given.
    public init(name: String, registered: String? = nil, document: HTTPURL? = nil) {
        self.name = name
        self.registered = registered
        self.document = document
    }

    /// The client id to use at a server, in the order that the protocol prefers.
    ///
    /// - Throws: `SignInError` if the server must know the program before and does not.
    func id(
        at configuration: OpenIDConfiguration, redirectURI: HTTPURL, scopes: [String], using client: HTTPClient
    ) async throws -> String {
        if let registered { return registered }
        if let document, configuration.acceptsClientDocuments { return document.text }
        guard let endpoint = configuration.registrationEndpoint else {
            throw SignInError(
                .badAnswer,
                "\(ServerText.line(configuration.issuer) ?? "the server") does not know this program and does not let it "
                    + "register itself; register it there and set the client id")
        }
        var members: JSONObject = [
            "client_name": .string(name), "redirect_uris": [.string(redirectURI.text)],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
            "token_endpoint_auth_method": "none", "application_type": "native",
        ]
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
        // A program on the user's machine cannot keep a secret of its own.
        guard answer["token_endpoint_auth_method"]?.string ?? "none" == "none" else {
            throw SignInError(
                .badAnswer, "\(endpoint.server) wants a secret of this program, which it could not keep")
        }
        return id
    }
}
