import CoreTesting
import HTTPCore
import HTTPServer
import HTTPTesting
import LoopKit

/// HTTPServer under wrk against nginx with one worker and bare uvicorn with uvloop, all with the same body; and the
/// cost of an idle event stream.
enum ServerBenchmark {
    static func run() async throws -> [Figure] {
        let routes = try Routes([
            Route(.get, "/hello", "hello", "The shortest answer") { _ in
                HTTPAnswer.bytes(Array("hello".utf8), type: "text/plain")
            },
            Route(.get, "/events", "events", "A stream that says nothing") { _ in
                HTTPAnswer.events { _ in try await Task.sleep(for: .seconds(600)) }
            },
        ])
        return try await withServer(routes) { port in
            let (server, nginx, uvicorn) = try await throughput(port)
            return [
                Figure("requests a second: ours / nginx", server / nginx, "ratio", .atLeast(0.7)),
                Figure("requests a second: ours / uvicorn", server / uvicorn, "ratio", .atLeast(1.5)),
                Figure("ours", server, "requests/s"),
                Figure("nginx, one worker", nginx, "requests/s"),
                Figure("uvicorn with uvloop", uvicorn, "requests/s"),
                Figure("memory of an idle event stream", try await idleStream(port), "bytes", .atMost(4096)),
            ]
        }
    }

    /// The best of three alternating rounds.
    private static func throughput(_ port: Int) async throws -> (ours: Double, nginx: Double, uvicorn: Double) {
        try await Nginx.run(tls: try TestCertificates.shared().good, isLogging: false) { nginx in
            try await PythonPeer.run(file: Peers.path("hello_uvicorn.py")) { uvicorn in
                var best = (ours: 0.0, nginx: 0.0, uvicorn: 0.0)
                for _ in 0..<3 {
                    best.ours = max(best.ours, try await wrk(port))
                    best.nginx = max(best.nginx, try await wrk(nginx.port))
                    best.uvicorn = max(best.uvicorn, try await wrk(uvicorn.port))
                }
                return best
            }
        }
    }

    private static func wrk(_ port: Int) async throws -> Double {
        let arguments = ["-t1", "-c64", "-d4", "http://127.0.0.1:\(port)/hello"]
        let report = try await Peers.output("wrk", arguments)
        guard !report.contains("Non-2xx"), !report.contains("Socket errors"),
            let line = report.split(separator: "\n").first(where: { $0.hasPrefix("Requests/sec:") }),
            let rate = line.split(separator: " ").last.flatMap({ Double($0) })
        else { throw BenchmarkError("wrk reports failures:\n\(report)") }
        return rate
    }

    private static func idleStream(_ port: Int) async throws -> Double {
        let count = 2000
        // The first streams grow the shared buffers.
        try await withStreams(100, port) {}
        let before = try TestProcess.residentBytes()
        var after = before
        try await withStreams(count, port) { after = try TestProcess.residentBytes() }
        return Double(after - before) / Double(count)
    }

    private static func withStreams(_ count: Int, _ port: Int, _ body: () throws -> Void) async throws {
        try await PythonPeer.run(file: Peers.path("open_streams.py"), ["\(port)", "\(count)"]) { _ in try body() }
    }

    private static func withServer<Result: Sendable>(
        _ routes: Routes, _ body: @escaping @Sendable (Int) async throws -> Result
    ) async throws -> Result {
        let (ports, told) = AsyncStream.makeStream(of: Int.self)
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await HTTPServer(routes).run { addresses in told.yield(addresses.first?.port ?? 0) }
                told.finish()
                return nil
            }
            var iterator = ports.makeAsyncIterator()
            guard let port = await iterator.next() else { throw BenchmarkError("the server did not start") }
            defer { group.cancelAll() }
            return try await body(port)
        }
    }
}
