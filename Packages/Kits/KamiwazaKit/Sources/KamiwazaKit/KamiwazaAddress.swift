import Capabilities
public import HTTPClient
import HTTPCore

/// A platform address as users type it: `lab.example`, `10.0.0.5:8443`, `https://lab.example/api`.
public struct KamiwazaAddress: Sendable, Hashable {
    /// The parsed address, with https as the default scheme and without a trailing slash.
    public let url: HTTPURL
    /// The possible addresses of the API, in search order: below `/api`, then the address itself.
    public let candidates: [HTTPURL]

    /// Throws `.invalidAddress` when it cannot be an address of a server.
    public init(_ typed: String) throws(KamiwazaError) {
        let text = typed.trimmingSpaces
        guard !text.isEmpty else {
            throw KamiwazaError(.invalidAddress, "the server address is empty; enter one, such as lab.example")
        }
        do throws(HTTPError) {
            // They would be lost in the address of the API, so they are rejected instead of ignored.
            guard !text.contains(where: { $0 == "?" || $0 == "#" }) else {
                throw HTTPError(
                    .invalid, "a server address must not contain '?' or '#'; remove that part")
            }
            let whole = try HTTPURL(String(text), assuming: .https)
            var path = whole.path[...]
            while path.hasSuffix("/") { path = path.dropLast() }
            url = try whole.resolving(path.isEmpty ? "/" : String(path))
            candidates = path.hasSuffix("/api") ? [url] : [try url.resolving("\(path)/api"), url]
        } catch {
            throw KamiwazaError(.invalidAddress, error.message, cause: error)
        }
    }
}

extension KamiwazaAddress: CustomStringConvertible {
    public var description: String { url.text }
}

extension KamiwazaAddress {
    /// Finds the API: the first candidate whose `/auth/health` returns 200 with a JSON object. The web interface, which
    /// returns 200 with a page for every path, does not count.
    ///
    /// No credential is sent, and https never becomes http. Throws `KamiwazaError`, or `HTTPError` for a rejected
    /// certificate.
    public nonisolated(nonsending) func discover(using client: HTTPClient) async throws -> HTTPURL {
        var failures: [KamiwazaError] = []
        for candidate in candidates {
            do {
                _ = try await KamiwazaAPI(candidate, client: client).health()
                return candidate
            } catch let error as KamiwazaError {
                // An unreachable server is unreachable at every path.
                if error.kind == .unreachable || error.kind == .timedOut { throw error }
                failures.append(error)
            }
        }
        // The most informative failure is thrown: a starting server first, then any other server.
        if let telling = failures.first(where: { [.notReady, .redirected, .serverFailed].contains($0.kind) }) {
            throw telling
        }
        throw KamiwazaError(
            .notAPlatform,
            "\(self) is not a Kamiwaza platform: something else answers there; check the "
                + "address", status: failures.first?.status, cause: failures.first)
    }
}
