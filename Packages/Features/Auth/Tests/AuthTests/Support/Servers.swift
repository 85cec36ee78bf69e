import HTTPCore
import HTTPServer
import JSON
import Synchronization
import Testing

/// A small server of a kind other than the test platform.
final class SmallServer: Sendable {
    /// A received request with its credential.
    struct Seen: Sendable {
        let path: String
        let headers: HTTPHeaders
    }

    let origin: String
    private let seen: Seens

    var requests: [Seen] { seen.all }

    private init(_ origin: String, _ seen: Seens) {
        self.origin = origin
        self.seen = seen
    }

    private final class Seens: Sendable {
        private let held = Mutex<[Seen]>([])

        var all: [Seen] { held.withLock { $0 } }

        func add(_ one: Seen) { held.withLock { $0.append(one) } }
    }

    /// Runs a server with one answer for each path, for the length of the body.
    static func run<Result: Sendable>(
        _ answers: [String: HTTPAnswer], isolation: isolated (any Actor)? = #isolation,
        _ body: (SmallServer) async throws -> Result
    ) async throws -> Result {
        let seen = Seens()
        let route = Route(.get, "/{path...}", "any", "Any path", .path("path", "The path", as: String.self)) {
            request, path in
            seen.add(Seen(path: "/\(path)", headers: request.headers))
            return answers["/\(path)"] ?? .text("nothing here", status: .notFound)
        }
        var configuration = ServerConfiguration()
        configuration.limits.drain = .milliseconds(100)
        let server = HTTPServer(try Routes([route]), configuration)
        let (started, signal) = AsyncStream.makeStream(of: String.self)
        let serving = Task {
            defer { signal.finish() }
            try await server.run { signal.yield($0.first?.description ?? "") }
        }
        var iterator = started.makeAsyncIterator()
        let origin = try #require(await iterator.next(isolation: isolation))
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(SmallServer(origin, seen))) } catch { result = .failure(error) }
        serving.cancel()
        try await serving.value
        return try result.get()
    }

    static let gateway: [String: HTTPAnswer] = [
        "/health": .json(
            ["status": "ok", "version": "1.4.2", "active_sessions": 3, "uptime_seconds": 90] as JSON),
        "/v1/models": .json(["data": []] as JSON),
    ]
}
