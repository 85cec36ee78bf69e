public import Capabilities
import HTTPClient
public import JSON

/// A client that the person has registered by hand, where servers do not let programs register themselves.
///
///     {"issuer": "https://login.example", "client-id": "martlet-7", "secret": "login-client"}
public struct KnownClient: InputValue, OutputValue, Hashable {
    /// The server that knows the client; nil for whichever signs the users of the resource in.
    public var issuer: String?
    /// The resource that the client is for, with everything below its path; nil for all that the issuer signs users in
    /// for.
    public var resource: String?
    /// The client id.
    public var id: String
    /// The name of the secret in the vault; nil for a client without one.
    public var secret: SecretName?

    /// A client. It is checked when it is needed.
    public init(issuer: String? = nil, resource: String? = nil, id: String, secret: SecretName? = nil) {
        self.issuer = issuer
        self.resource = resource
        self.id = id
        self.secret = secret
    }

    public static let schema = Schema.record([
        .init("issuer", "Address of the sign-in server that knows the client", .optional(.url)),
        .init("resource", "Address of the resource that the client is for", .optional(.url)),
        .init("client-id", "The id that the server gave to the client", .string),
        .init("secret", "Name of the client's secret in the vault; needs the issuer", .optional(.secretName)),
    ])

    public init(json: JSON) throws(ValueError) {
        if let problem = Self.schema.problems(in: json).first { throw problem }
        guard let id = json["client-id"]?.string else { throw ValueError("needs a client-id") }
        self.init(
            issuer: json["issuer"]?.string, resource: json["resource"]?.string, id: id,
            secret: json["secret"]?.string.map { SecretName($0) })
    }

    public var json: JSON {
        var object: JSONObject = ["client-id": .string(id)]
        object["issuer"] = issuer.map { .string($0) }
        object["resource"] = resource.map { .string($0) }
        object["secret"] = secret?.json
        return .object(object)
    }
}

extension KnownClient {
    /// How closely the client fits: one for both addresses fits best, then one for the resource. Nil if it does not fit.
    func fit(_ url: HTTPURL, issuer: HTTPURL) throws(SignInError) -> Int? {
        guard !id.isEmpty else { throw problem("has no client id; enter the one that the server gave") }
        guard self.issuer != nil || resource != nil else {
            throw problem("needs the issuer that knows it, or the resource that it is for")
        }
        // A resource names its issuer itself, so that it could have the secret sent anywhere.
        guard secret == nil || self.issuer != nil else {
            throw problem("has a secret and needs the issuer too, because the secret is sent there and nowhere else")
        }
        var fit = 0
        if let text = self.issuer {
            let named = try address(text, "issuer")
            guard OpenIDConfiguration.bare(named) == OpenIDConfiguration.bare(issuer) else { return nil }
            fit += 1
        }
        if let text = resource {
            let named = try address(text, "resource")
            guard named.isSameOrigin(as: url), named.contains(url) else { return nil }
            fit += 2
        }
        return fit
    }

    private func address(_ text: String, _ member: String) throws(SignInError) -> HTTPURL {
        guard let url = try? HTTPURL(text), url.scheme == .https || url.isLoopback else {
            throw problem(
                "has the \(member) \(PlainText.escape(text, limit: 200).quotedForMessage), which is not an address that "
                    + "begins with https://")
        }
        return url
    }

    private func problem(_ words: String) -> SignInError {
        SignInError(
            .client,
            "the client \(PlainText.escape(id, limit: 60).quotedForMessage) in auth.resource-clients \(words)")
    }
}
