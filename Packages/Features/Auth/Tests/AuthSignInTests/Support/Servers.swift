import HTTPClient
import HTTPCore
import HTTPServer
import JSON
import Testing

/// Runs a server on the loopback interface for the length of `body`, which gets its origin.
func withServer<Result: Sendable>(
    _ routes: [Route], _ body: (_ origin: String) async throws -> Result
) async throws -> Result {
    var configuration = ServerConfiguration()
    configuration.limits.drain = .milliseconds(500)
    let server = HTTPServer(try Routes(routes), configuration)
    let (started, signal) = AsyncStream.makeStream(of: String.self)
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            defer { signal.finish() }
            try await server.run { signal.yield($0.first?.description ?? "") }
        }
        defer { group.cancelAll() }
        let origin = try #require(await started.first { _ in true })
        return try await body(origin)
    }
}

/// Lends a client and closes it afterwards.
func withClient<Result: Sendable>(_ body: (HTTPClient) async throws -> Result) async throws -> Result {
    let client = HTTPClient(.standalone)
    let result: Swift.Result<Result, any Error>
    do { result = .success(try await body(client)) } catch { result = .failure(error) }
    await client.close()
    return try result.get()
}

extension HTTPAnswer {
    static func json(_ json: JSON, _ status: Int = 200) -> HTTPAnswer {
        .bytes(Array(json.text().utf8), type: "application/json", status: HTTPStatus(status))
    }
}
