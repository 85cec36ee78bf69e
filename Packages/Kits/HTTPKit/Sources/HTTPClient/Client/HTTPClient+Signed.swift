public import Capabilities
import HTTPCore

/// Who signs the requests to a server.
public struct RequestSigner: Sendable {
    private let authenticator: any Authenticator
    private let server: ServerID

    public init(_ authenticator: any Authenticator, for server: ServerID) {
        self.authenticator = authenticator
        self.server = server
    }

    nonisolated(nonsending) func sign(_ request: HTTPRequest) async throws -> (HTTPRequest, RequestHead) {
        var head = RequestHead(method: request.method.rawValue, url: request.url.text)
        try await authenticator.sign(&head, for: server)
        var signed = request
        for (name, value) in head.headers { value.withText { signed.headers[name] = $0 } }
        return (signed, head)
    }

    nonisolated(nonsending) func renew(_ refused: RequestHead) async throws -> Bool {
        try await authenticator.renew(refused, for: server)
    }
}

extension HTTPClient {
    /// Sends a request with the credential for its server. After a 401 it is repeated once, when there is another
    /// credential by then.
    public nonisolated(nonsending) func send(
        _ request: HTTPRequest, signedBy signer: RequestSigner
    ) async throws -> HTTPResponse {
        let (signed, head) = try await signer.sign(request)
        let response = try await send(signed)
        guard response.status.code == 401, request.body.canBeSentAgain, try await signer.renew(head) else {
            return response
        }
        return try await send(signer.sign(request).0)
    }

    /// The same for an answer that is read as it comes.
    public nonisolated(nonsending) func open(
        _ request: HTTPRequest, signedBy signer: RequestSigner
    ) async throws -> HTTPExchange {
        let (signed, head) = try await signer.sign(request)
        let exchange = try await open(signed)
        guard exchange.status.code == 401, request.body.canBeSentAgain else { return exchange }
        // What the server says about its refusal is not lost when nothing can be done about it.
        guard try await signer.renew(head) else { return exchange }
        exchange.cancel()
        return try await open(signer.sign(request).0)
    }
}
