import HTTPServer
import LoopKit

/// A server that runs for the length of a test.
struct TestServer: Sendable {
    let addresses: [BoundAddress]
    let loop: EventLoop

    var port: Int { addresses.first?.port ?? 0 }
    var url: String { addresses.first?.description ?? "" }

    func client() throws -> RawClient {
        try RawClient(port: port, loop: loop)
    }

    /// One exchange on a separate connection, which the request asks to close.
    func exchange(_ request: String) async throws -> String {
        let client = try client()
        try await client.send(request)
        let answer = try await client.receiveAll()
        client.close()
        return answer
    }

    func get(_ path: String, _ lines: String...) async throws -> String {
        try await exchange(
            (["GET \(path) HTTP/1.1", "Host: localhost", "Connection: close"] + lines).joined(separator: "\r\n")
                + "\r\n\r\n")
    }
}

/// Runs a server and ends it after `body`.
@discardableResult
func withServer<Result: Sendable>(
    _ routes: [Route], _ change: (inout ServerConfiguration) -> Void = { _ in },
    _ body: (TestServer) async throws -> Result
) async throws -> Result {
    var configuration = ServerConfiguration()
    configuration.limits.drain = .milliseconds(500)
    change(&configuration)
    let server = HTTPServer(try Routes(routes), configuration)
    let (started, signal) = AsyncStream.makeStream(of: [BoundAddress].self)
    let loop = EventLoop()
    defer { loop.stop() }
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            defer { signal.finish() }
            try await server.run { signal.yield($0) }
        }
        var addresses: [BoundAddress]?
        for await found in started {
            addresses = found
            break
        }
        guard let addresses else {
            try await group.waitForAll()
            throw RawClient.Failed("the server did not start")
        }
        let result = try await body(TestServer(addresses: addresses, loop: loop))
        group.cancelAll()
        try await group.waitForAll()
        return result
    }
}

/// Words that handlers send to a waiting test.
struct Signals: Sendable {
    private let stream: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream(of: String.self)
    }

    func send(_ word: String) {
        continuation.yield(word)
    }

    /// Waits for a word and skips others.
    func wait(for word: String) async {
        for await next in stream where next == word { return }
    }
}
