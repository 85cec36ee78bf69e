import Cryptography
import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

/// Helpers for the tests against real servers.
enum Lab {
    /// Lends a client and closes it afterwards.
    static func client<Result>(
        _ configuration: HTTPClient.Configuration = HTTPClient.Configuration.standalone,
        isolation: isolated (any Actor)? = #isolation, _ body: (HTTPClient) async throws -> Result
    ) async throws -> Result {
        let client = HTTPClient(configuration)
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(client)) } catch { result = .failure(error) }
        await client.close()
        return try result.get()
    }

    /// Lends a client that trusts only the test authority.
    static func trustingClient<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: (HTTPClient) async throws -> Result
    ) async throws -> Result {
        try await client(try trusting(), body)
    }

    static func trusting() throws -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration.standalone
        let authority = try TestCertificates.shared().authority
        configuration.trust = TrustDomain(authorities: .bytes(Array(authority.chainPEM.utf8)))
        return configuration
    }

    /// A request to this machine that is sent once, with short limits.
    static func request(
        _ port: Int, _ path: String = "/", method: HTTPMethod = .get, scheme: String = "http",
        host: String = "127.0.0.1", body: HTTPBody = .none
    ) throws -> HTTPRequest {
        var request = HTTPRequest(method, try HTTPURL("\(scheme)://\(host):\(port)\(path)"), body: body)
        request.retry = .none
        request.limits.connect = .seconds(10)
        request.limits.firstByte = .seconds(20)
        request.limits.idle = .seconds(20)
        return request
    }

    /// Returns the `HTTPError` that the body throws and records any other error as an issue.
    static func failure(
        isolation: isolated (any Actor)? = #isolation, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async -> HTTPError? {
        do {
            try await body()
            Issue.record("nothing was thrown", sourceLocation: sourceLocation)
        } catch let error as HTTPError {
            return error
        } catch {
            Issue.record("another error was thrown: \(error)", sourceLocation: sourceLocation)
        }
        return nil
    }
}
