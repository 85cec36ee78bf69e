import Capabilities
import GatewayAPI
import GatewayKit
import HTTPClient
import JSON
import Testing

/// How a gateway is reached.
enum Way: String, CaseIterable, Sendable {
    case inProcess, overHTTP
}

typealias AnyGateway = any AgentServer & ProjectCatalog

extension TestGateway {
    /// The gateway, reached in that way.
    func reached(_ way: Way) throws -> AnyGateway {
        let id = ServerID("gateway")
        guard way == .overHTTP else { return LocalGateway(id, services: { [services] in services }) }
        let url = try HTTPURL(url)
        let signer = RequestSigner(TokenAuthenticator(url), for: id)
        return try RemoteGateway(id, at: url, client: client, signer: signer)
    }
}

/// Adds the token of tests by the shared rule.
private final class TokenAuthenticator: Authenticator {
    private let url: HTTPURL

    init(_ url: HTTPURL) {
        self.url = url
    }

    func sign(_ request: inout RequestHead, for server: ServerID) async throws {
        _ = try request.authorize(with: Secret(TestGateway.token), for: .key(beside: url))
    }

    func renew(_ refused: RequestHead, for server: ServerID) async throws -> Bool { false }
}

/// Runs work as a person, or as a client with scopes.
func asCaller<Value: Sendable>(
    scopes: Set<ClientScope>? = nil, _ work: @Sendable () async throws -> Value
) async throws -> Value {
    let person = Caller.person(HeadlessInteraction())
    let caller = person.narrowed(by: scopes.map { .client("reader", scopes: $0) })
    return try await Caller.$current.withValue(caller) { try await work() }
}
