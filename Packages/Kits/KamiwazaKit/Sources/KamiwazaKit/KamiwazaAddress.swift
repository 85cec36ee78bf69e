import Capabilities
public import HTTPClient
import HTTPCore

/// A platform's address as a person types it: `lab.example`, `10.0.0.5:8443`, `https://lab.example/api`.
public struct KamiwazaAddress: Sendable, Hashable {
    /// What was meant, https where no scheme was given, without a slash at the end.
    public let url: HTTPURL
    /// Where the API may be, in the order in which it is looked for: below `/api`, then just there.
    public let candidates: [HTTPURL]

    /// Throws `.invalidAddress` when it cannot be an address of a server.
    public init(_ typed: String) throws(KamiwazaError) {
        let text = typed.trimmingSpaces
        guard !text.isEmpty else {
            throw KamiwazaError(.invalidAddress, "no address was given; name the server, such as lab.example")
        }
        do throws(HTTPError) {
            // They would be lost on the way to the API, and whoever typed them meant something by them.
            guard !text.contains(where: { $0 == "?" || $0 == "#" }) else {
                throw HTTPError(
                    .invalid, "the address of a server has no '?' or '#' in it; leave out what begins there")
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
