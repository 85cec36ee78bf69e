import Capabilities
import CoreTesting
import HostTesting
import Registry

@testable import Auth

extension TestWorkbench {
    /// Lends a workbench with Auth and a file of spans, whose time of day only the test moves.
    static func withAuth<Result>(
        time: MovableTime = MovableTime(), isolation: isolated (any Actor)? = #isolation,
        _ body: (inout TestWorkbench) async throws -> Result
    ) async throws -> Result {
        try await run([AuthFeature.self, SpanFileFeature.self]) { bench in
            bench.time = time
            // Nothing is signed without a caller; the caller of an action is another one.
            return try await Caller.$current.withValue(
                .person(HeadlessInteraction()), operation: { try await body(&bench) }, isolation: isolation)
        }
    }
}

extension TestSession {
    var authenticator: any Authenticator {
        get throws { try registry.one((any Authenticator).self) }
    }

    var secrets: any SecretStore {
        get throws { try registry.one((any SecretStore).self) }
    }

    /// The headers of a signed request.
    func signed(_ url: String, for server: String) async throws -> [String: String] {
        var head = RequestHead(method: "GET", url: url)
        try await authenticator.sign(&head, for: ServerID(server))
        return Dictionary(head.headers.map { ($0.name, $0.value.plain) }) { first, _ in first }
    }
}

extension Secret {
    var plain: String { withText { $0 } }
}
