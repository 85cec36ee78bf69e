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
