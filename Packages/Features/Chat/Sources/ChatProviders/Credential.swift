import Capabilities
import HTTPClient
import HTTPCore

/// How a request is authenticated.
enum Credential: Sendable {
    /// Without authentication.
    case none
    /// A key of the environment, with the server that it is for.
    case key(Secret, KeyHeader, for: HTTPURL)
    /// A signer, which looks the credential up when it is needed.
    case signer(RequestSigner)

    func open(_ request: HTTPRequest, with client: HTTPClient) async throws -> HTTPExchange {
        if case .signer(let signer) = self { return try await client.open(request, signedBy: signer) }
        return try await client.open(try carrying(request))
    }

    func send(_ request: HTTPRequest, with client: HTTPClient) async throws -> HTTPResponse {
        if case .signer(let signer) = self { return try await client.send(request, signedBy: signer) }
        return try await client.send(try carrying(request))
    }

    /// The request with the key, if there is one. The key is only sent to its own server.
    private func carrying(_ request: HTTPRequest) throws -> HTTPRequest {
        guard case .key(let key, let header, let home) = self else { return request }
        guard Self.mayGo(to: request.url, from: home) else {
            throw ChatError(
                .forbidden, "the key for \(home.server) is not sent to \(request.url.server)",
                remedy: "check the address of the server")
        }
        var signed = request
        key.withText { header.put($0, into: &signed.headers) }
        return signed
    }

    /// The server itself. With https also other ports of its host, where a platform serves its models.
    private static func mayGo(to url: HTTPURL, from home: HTTPURL) -> Bool {
        url.isSameOrigin(as: home) || (url.scheme == .https && home.scheme == .https && url.host == home.host)
    }
}

/// How requests carry a key.
enum KeyHeader: Sendable {
    case bearer
    case named(String)

    func put(_ key: String, into headers: inout HTTPHeaders) {
        switch self {
        case .bearer: headers["Authorization"] = "Bearer \(key)"
        case .named(let name): headers[name] = key
        }
    }
}

/// The variables of a provider: `LAB_API_KEY` and `LAB_BASE_URL`.
struct EnvironmentKey: Sendable {
    let key: Secret?
    let address: HTTPURL?

    /// Throws if the address is not valid.
    init(for id: String, in environment: [String: String], redactor: Redactor) throws(ChatError) {
        let variable = SecretName(id).environmentVariable
        let key = environment[variable].flatMap { $0.isEmpty ? nil : Secret($0) }
        if let key {
            redactor.learn(key, named: variable)
            // A line end would start another header. It is usually copied along with the key.
            guard key.withText({ $0.utf8.allSatisfy { (33...126).contains($0) } }) else {
                throw ChatError(
                    .noKey, "\(variable) contains characters that are not valid in a key",
                    remedy: "set it again without them", provider: id)
            }
        }
        self.key = key
        let place = Self.addressVariable(for: id)
        guard let text = environment[place], !text.isEmpty else {
            address = nil
            return
        }
        do throws(HTTPError) {
            address = try HTTPURL(text, assuming: .https)
        } catch {
            throw ChatError(.badAddress, "\(place): \(error.message)", provider: id, cause: error)
        }
    }

    /// The credential for a server with a configurable address. The key is only for the address beside it.
    func credential(for url: HTTPURL) -> Credential? {
        guard let key, let address, address.isSameOrigin(as: url) else { return nil }
        return .key(key, .bearer, for: address)
    }

    static func addressVariable(for id: String) -> String {
        let variable = SecretName(id).environmentVariable
        // A name such as `ci-token` is a variable without the suffix.
        return (variable.hasSuffix("_API_KEY") ? String(variable.dropLast("_API_KEY".count)) : variable) + "_BASE_URL"
    }
}
