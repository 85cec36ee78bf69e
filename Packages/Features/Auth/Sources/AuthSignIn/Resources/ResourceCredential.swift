import Capabilities
import HTTPClient
import JSON

/// A session at a resource, with what it takes to renew it. It belongs to one resource, one issuer and one client id.
struct ResourceCredential: Sendable {
    var session: Session
    /// The identifier of the resource.
    let resource: String
    let issuer: String
    let tokenEndpoint: HTTPURL
    let clientID: String
    /// How the client sends its secret; nil for a client without one. The secret itself is not part of this.
    let method: ClientCredential.Method?
    /// What it allows.
    let scopes: [String]

    /// The same credential with newer tokens.
    func renewed(
        at url: HTTPURL, as identity: ResourceClient, using client: HTTPClient,
        now: @escaping @Sendable () -> Timestamp
    ) async throws -> Session {
        guard let token = session.refreshToken else {
            throw SignInError.refused("the session cannot be renewed; sign in again")
        }
        let credential = try await identity.credential(of: self, for: url)
        var endpoint = TokenEndpoint(tokenEndpoint, as: credential, client: client, now: now)
        endpoint.resource = resource
        return session.renewed(by: try await endpoint.renew(token))
    }
}

extension ResourceCredential {
    private static let version = 1

    /// The credential as text for a vault.
    var encoded: Secret {
        session.encoded.withText { text in
            var members: JSONObject = [
                "version": .int(Self.version), "resource": .string(resource), "issuer": .string(issuer),
                "token_endpoint": .string(tokenEndpoint.text), "client": .string(clientID),
                "scopes": .array(scopes.map { .string($0) }), "session": .string(text),
            ]
            members["client_method"] = method.map { .string($0.rawValue) }
            return Secret(JSON.object(members).text())
        }
    }

    /// Reads the result of `encoded`.
    init(encoded: Secret) throws(SignInError) {
        func unreadable() -> SignInError {
            SignInError(.unreadable, "the stored credential cannot be read; sign in again")
        }
        let json = try encoded.withText { (text) throws(SignInError) -> JSON in
            // The parser's error is dropped, because it might quote the text.
            do { return try JSON(parsing: text) } catch { throw unreadable() }
        }
        guard json["version"]?.int == Self.version, let resource = json["resource"]?.string,
            let issuer = json["issuer"]?.string, let client = json["client"]?.string,
            let scopes = json["scopes"]?.array?.compactMap(\.string), let session = json["session"]?.string
        else { throw unreadable() }
        method = json["client_method"]?.string.flatMap(ClientCredential.Method.init)
        do { tokenEndpoint = try HTTPURL(json["token_endpoint"]?.string ?? "") } catch { throw unreadable() }
        self.session = try Session(encoded: Secret(session))
        (self.resource, self.issuer, clientID, self.scopes) = (resource, issuer, client, scopes)
    }
}
