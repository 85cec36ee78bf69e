import GatewayStore
import HTTPServer
import Registry

/// How a shell completes what the gateway has stored.
enum GatewayCompletion {
    /// Projects, with their names and folders.
    static let projects = Completion.dynamic { registry, _, _ in
        Self.candidates(TokenHolders.own(in: registry)?.store.offeredProjects() ?? [])
    }

    /// Sessions, with their titles.
    static let sessions = Completion.dynamic { registry, _, _ in
        Self.candidates(TokenHolders.own(in: registry)?.store.offeredSessions() ?? [])
    }

    /// The names of client tokens, with their scopes.
    static let clients = Completion.dynamic { registry, _, _ in
        Self.candidates(TokenHolders.own(in: registry)?.store.offeredClients() ?? [])
    }

    /// Those whose usage is counted: clients and the owner.
    static let users = Completion.dynamic { registry, _, _ in
        [Completion.Candidate(ClientTokens.owner.name, "You")]
            + Self.candidates(TokenHolders.own(in: registry)?.store.offeredClients() ?? [])
    }

    private static func candidates(_ offers: [GatewayStore.Offer]) -> [Completion.Candidate] {
        offers.map { Completion.Candidate($0.word, $0.summary) }
    }
}
