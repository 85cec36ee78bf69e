import HTTPClient
import HTTPServer
import HTTPTesting
import JSON
import Testing

/// The programs in this package's folder `Peers`, which drive the vendor's own library.
enum Peer {
    /// Runs one to its end and returns the lines that it printed.
    static func lines(_ name: String, _ arguments: [String], input: String = "") async throws -> [String] {
        let package = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()
        let runner = "import runpy, sys\nsys.argv = sys.argv[1:]\nrunpy.run_path(sys.argv[0], run_name='__main__')"
        let output = try await PythonPeer.output(
            source: runner, ["\(package)/Peers/\(name)"] + arguments, input: Array(input.utf8))
        return output.split(separator: "\n").map(String.init)
    }

    /// What the library understood of each answer, a stream or a whole one, that a server has at these paths.
    static func read(_ paths: [(path: String, streams: Bool)], at url: String) async throws -> [JSON] {
        let cases = JSON.array(paths.map { ["path": .string($0.path), "stream": .bool($0.streams)] })
        let lines = try await lines("openai_read.py", [url], input: cases.text())
        try #require(lines.count == paths.count)
        return try lines.map { try JSON(parsing: $0) }
    }
}

/// Runs a server on the loopback for the length of a test.
func withServer(_ routes: [Route], _ body: (_ url: String) async throws -> Void) async throws {
    var configuration = ServerConfiguration()
    configuration.limits.drain = .milliseconds(500)
    let server = HTTPServer(try Routes(routes), configuration)
    let (started, signal) = AsyncStream.makeStream(of: String.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            defer { signal.finish() }
            try await server.run { signal.yield($0[0].description) }
        }
        var iterator = started.makeAsyncIterator()
        let url = try #require(await iterator.next())
        try await body(url)
        group.cancelAll()
        try await group.waitForAll()
    }
}
