import Capabilities
import GatewayAPI
import GatewayStore
import HTTPCore
import HTTPServer
import Registry

/// Shows what the tokens of the gateway give access to.
final class TokenHolders: GrantHolders {
    private let services: GatewayServices

    init(_ services: GatewayServices) {
        self.services = services
    }

    /// The projects, sessions and clients.
    var store: GatewayStore { services.store }

    /// Those of a composition. Completions find the store through them, because parameters are declared before it is
    /// known.
    static func own(in registry: Registry) -> TokenHolders? {
        registry.all((any GrantHolders).self).lazy.compactMap { $0 as? TokenHolders }.first
    }

    var kind: String { "token" }

    func knownNames() -> [(name: String, summary: String)] {
        [(name: ClientTokens.owner.name, summary: "Your own token")]
            + store.offeredClients().map { (name: $0.word, summary: $0.summary) }
    }

    func holder(named name: String) async throws -> GrantHolder {
        guard let context = ActionContext.current else {
            throw AccessFailure(rule: "the access of a token can only be shown by an action", mend: "use an action")
        }
        let routes = try DescribingActions.routes(services, context).filter { !$0.isOpen }
        return GrantHolder(
            try await grant(of: name), doesActions: false,
            requests: routes.map { .init("\($0.method.rawValue) \($0.template)", .route($0.scopes)) })
    }

    private func grant(of name: String) async throws -> Grant {
        if name == ClientTokens.owner.name { return ClientTokens.owner.grant }
        let clients = try await services.store.clients()
        guard let client = clients.first(where: { $0.name == name }) else {
            throw GatewayStoreError.noClient(name, known: clients.map(\.name) + [ClientTokens.owner.name])
        }
        return ClientTokens.grant(of: client)
    }
}
