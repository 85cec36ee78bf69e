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
    ///
    /// On a redirect the credential does not go along: whoever signs is asked anew, with the new address, as long as that
    /// is of the same origin; to others the request goes without a credential.
    public nonisolated(nonsending) func send(
        _ request: HTTPRequest, signedBy signer: RequestSigner
    ) async throws -> HTTPResponse {
        try await follow(request, signer) { try await self.send($0) }
    }

    /// The same for an answer that is read as it comes.
    public nonisolated(nonsending) func open(
        _ request: HTTPRequest, signedBy signer: RequestSigner
    ) async throws -> HTTPExchange {
        try await follow(request, signer) { try await self.open($0) }
    }

    private nonisolated(nonsending) func follow<Answer: SignedAnswer>(
        _ original: HTTPRequest, _ signer: RequestSigner,
        _ exchange: nonisolated(nonsending) (HTTPRequest) async throws -> Answer
    ) async throws -> Answer {
        var (request, followed, isSameOrigin) = (original, 0, true)
        while true {
            var hop = request
            hop.redirects = .none
            let answer =
                isSameOrigin ? try await sign(hop, signer, exchange) : try await exchange(hop)
            guard
                let next = try original.redirects.next(
                    after: request, status: answer.status, headers: answer.headers, followed: followed)
            else { return answer }
            answer.drop()
            isSameOrigin = isSameOrigin && next.url.isSameOrigin(as: request.url)
            request = next
            followed += 1
        }
    }

    private nonisolated(nonsending) func sign<Answer: SignedAnswer>(
        _ request: HTTPRequest, _ signer: RequestSigner,
        _ exchange: nonisolated(nonsending) (HTTPRequest) async throws -> Answer
    ) async throws -> Answer {
        let (signed, head) = try await signer.sign(request)
        let answer = try await exchange(signed)
        // What the server says about its refusal is not lost when nothing can be done about it.
        guard answer.status.code == 401, request.body.canBeSentAgain, try await signer.renew(head) else {
            return answer
        }
        answer.drop()
        return try await exchange(signer.sign(request).0)
    }
}

/// What both kinds of answers have in common.
private protocol SignedAnswer: Sendable {
    var status: HTTPStatus { get }
    var headers: HTTPHeaders { get }
    /// Ends it, when another takes its place.
    func drop()
}

extension HTTPResponse: SignedAnswer {
    fileprivate func drop() {}
}

extension HTTPExchange: SignedAnswer {
    fileprivate func drop() { cancel() }
}
