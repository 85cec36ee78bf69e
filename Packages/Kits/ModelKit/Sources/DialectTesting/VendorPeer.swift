import HTTPClient
public import HTTPServer
import HTTPTesting
public import JSON

/// The programs in this package's folder `Peers`, which run the vendors' own libraries.
public enum VendorPeer {
    /// A program wrote another number of lines than it was asked for.
    public struct Silence: Error {
        /// The file name of the program.
        public let program: String
    }

    /// Runs a program to its end and returns its output lines.
    public static func lines(_ name: String, _ arguments: [String], input: String = "") async throws -> [String] {
        let package = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        let runner = "import runpy, sys\nsys.argv = sys.argv[1:]\nrunpy.run_path(sys.argv[0], run_name='__main__')"
        let output = try await PythonPeer.output(
            source: runner, ["\(package)/Peers/\(name)"] + arguments, input: Array(input.utf8))
        return output.split(separator: "\n").map(String.init)
    }

    /// What the library read from each answer, streamed or whole, that a server has at these paths.
    public static func read(
        _ paths: [(path: String, streams: Bool)], at url: String, with program: String
    ) async throws -> [JSON] {
        let cases = JSON.array(paths.map { ["path": .string($0.path), "stream": .bool($0.streams)] })
        let lines = try await lines(program, [url], input: cases.text())
        guard lines.count == paths.count else { throw Silence(program: program) }
        return try lines.map { try JSON(parsing: $0) }
    }

    /// Runs a server on the loopback for the length of a test.
    public static func withServer(
        _ routes: [Route], isolation: isolated (any Actor)? = #isolation, _ body: (_ url: String) async throws -> Void
    ) async throws {
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
            // If it does not start, the group reports the reason.
            if let url = await iterator.next(isolation: isolation) { try await body(url) }
            group.cancelAll()
            try await group.waitForAll()
        }
    }
}
