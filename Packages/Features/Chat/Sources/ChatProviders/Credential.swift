import Capabilities
import HTTPClient
import HTTPCore

/// Who asks a server.
enum Credential: Sendable {
    /// Nobody in particular.
    case none
    /// A key of the environment, and the server that it is for.
    case key(Secret, KeyHeader, for: HTTPURL)
    /// Whoever knows the credential, which is looked up when it is needed.
    case signer(RequestSigner)

    func open(_ request: HTTPRequest, with client: HTTPClient) async throws -> HTTPExchange {
        if case .signer(let signer) = self { return try await client.open(request, signedBy: signer) }
        return try await client.open(try carrying(request))
    }

    func send(_ request: HTTPRequest, with client: HTTPClient) async throws -> HTTPResponse {
        if case .signer(let signer) = self { return try await client.send(request, signedBy: signer) }
        return try await client.send(try carrying(request))
    }

    /// The request with the key, if there is one; it goes to no other server than its own.
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

    /// The server itself, and other ports of its host, where a platform serves its models, as long as nobody on the way
    /// can read along.
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

/// What the environment says about a provider: `LAB_API_KEY` and `LAB_BASE_URL`.
struct EnvironmentKey: Sendable {
    let key: Secret?
    let address: HTTPURL?

    /// Throws when the address is none.
    init(for id: String, in environment: [String: String], redactor: Redactor) throws(ChatError) {
        let variable = SecretName(id).environmentVariable
        let key = environment[variable].flatMap { $0.isEmpty ? nil : Secret($0) }
        if let key {
            redactor.learn(key, named: variable)
            // A line end in a header would begin another one; usually it came along when the key was copied.
            guard key.withText({ $0.utf8.allSatisfy { (33...126).contains($0) } }) else {
                throw ChatError(
                    .noKey, "\(variable) has characters in it that no key has", remedy: "set it once more without them",
                    provider: id)
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

    /// The credential for a server that has no host known beforehand: the key is for the address beside it only.
    func credential(for url: HTTPURL) -> Credential? {
        guard let key, let address, address.isSameOrigin(as: url) else { return nil }
        return .key(key, .bearer, for: address)
    }

    static func addressVariable(for id: String) -> String {
        let variable = SecretName(id).environmentVariable
        // A name such as `ci-token` is a variable as it is.
        return (variable.hasSuffix("_API_KEY") ? String(variable.dropLast("_API_KEY".count)) : variable) + "_BASE_URL"
    }
}
