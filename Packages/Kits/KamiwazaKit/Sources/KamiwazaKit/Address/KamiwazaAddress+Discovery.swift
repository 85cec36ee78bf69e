import Capabilities
public import HTTPClient
import HTTPCore

extension KamiwazaAddress {
    /// Finds the API: the first candidate whose `/auth/health` answers 200 with a JSON object. The web interface, which
    /// answers 200 with a page to everything, is not taken for it.
    ///
    /// No credential is sent, and https never becomes http. Throws `KamiwazaError`, or `HTTPError` when the server's
    /// certificate was refused.
    public nonisolated(nonsending) func discover(using client: HTTPClient) async throws -> HTTPURL {
        var failures: [KamiwazaError] = []
        for candidate in candidates {
            do {
                _ = try await KamiwazaAPI(candidate, client: client).health()
                return candidate
            } catch let error as KamiwazaError {
                // Where nobody can be reached, nobody can be reached at another path either.
                if error.kind == .unreachable || error.kind == .timedOut { throw error }
                failures.append(error)
            }
        }
        // What says most is told: that a server is starting, and then what else answers there.
        if let telling = failures.first(where: { [.notReady, .redirected, .serverFailed].contains($0.kind) }) {
            throw telling
        }
        throw KamiwazaError(
            .notAPlatform,
            "no Kamiwaza platform could be reached at \(self): something else answers there; check the "
                + "address", status: failures.first?.status, cause: failures.first)
    }
}
