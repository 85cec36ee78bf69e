import AuthTrust
import Capabilities
import HTTPCore
import Testing

/// The failure that the body throws, as frontends see it; nil and a recorded issue if it throws none.
func failure(
    isolation: isolated (any Actor)? = #isolation, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async -> AnyFailure? {
    do {
        try await body()
        Issue.record("nothing was thrown", sourceLocation: sourceLocation)
        return nil
    } catch {
        return AnyFailure(error)
    }
}
