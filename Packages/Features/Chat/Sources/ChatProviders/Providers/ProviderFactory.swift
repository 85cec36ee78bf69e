import Capabilities
import HTTPCore

/// Makes providers. It opens nothing.
struct ProviderFactory: Sendable {
    let setup: ProviderSetup
    let farewells: Farewells

    func access(
        _ id: String, _ name: String, _ credential: Credential, remedy: String, headers: HTTPHeaders = [:]
    ) -> ServerAccess {
        ServerAccess(
            id: id, name: name, client: setup.client, credential: credential, remedy: remedy, redactor: setup.redactor,
            limits: setup.limits, clock: setup.clock, tracer: setup.tracer ?? Tracer(sinks: [], now: setup.now),
            headers: headers)
    }

    func lastModel(_ id: String) -> @Sendable () async -> String? {
        { [setup] in await setup.lastModel(id) }
    }
}

extension ProviderSetup {
    /// Whether the store surely has no secret of that name; why one cannot be opened is told when it is needed.
    func lacksSecret(_ id: String) async -> Bool {
        guard authenticator != nil, let secrets else { return true }
        do { return try await !secrets.names().contains(SecretName(id)) } catch { return false }
    }

    /// Whether the store has a secret of that name. One that cannot be opened has none.
    func hasSecret(_ id: String) async -> Bool {
        guard authenticator != nil, let secrets else { return false }
        do { return try await secrets.names().contains(SecretName(id)) } catch { return false }
    }
}
