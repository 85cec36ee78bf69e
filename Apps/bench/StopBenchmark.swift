import Glibc
import HTTPTesting

/// Ctrl-C in the midst of a streamed answer that is stored: until the server sees the connection close, and until the
/// program has ended.
enum StopBenchmark {
    private static let rounds = 200

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let catcher = try RequestCatcher()
            let program = try MartletProgram(in: folder)
            var (server, turn): ([Double], [Double]) = ([], [])
            for round in 0..<rounds {
                let (closed, ended) = try stopOne(program, catcher, after: 5 + round % 20)
                server.append(closed / .milliseconds(1))
                turn.append(ended / .milliseconds(1))
            }
            server.sort()
            turn.sort()
            return [
                Figure("from Ctrl-C until the program has ended, p99", turn[rounds * 99 / 100], "ms", .atMost(200)),
                Figure(
                    "from Ctrl-C until the server sees the connection close, p99", server[rounds * 99 / 100], "ms",
                    .atMost(200)),
                Figure("until the program has ended, median", turn[rounds / 2], "ms"),
                Figure("until the server sees it, median", server[rounds / 2], "ms"),
            ]
        }
    }

    /// - Parameter chunks: how many are sent before the person has read enough.
    private static func stopOne(
        _ program: MartletProgram, _ catcher: borrowing RequestCatcher, after chunks: Int
    ) throws -> (closed: Duration, ended: Duration) {
        let process = try Child.start(
            MartletProgram.path, ["ask", "Hello"], variables: program.variables(port: catcher.port))
        let request = try catcher.next()
        try request.read()
        guard request.send(CaughtRequest.head) else { throw BenchmarkError("the client did not wait") }
        for number in 0..<chunks {
            guard request.send(CaughtRequest.chunk("word\(number) ")) else {
                throw BenchmarkError("the client did not wait")
            }
            usleep(10_000)
        }
        let start = ContinuousClock.now
        kill(process, SIGINT)
        let closed = try request.closing() - start
        let status = Child.wait(for: process).status
        let ended = ContinuousClock.now - start
        // It says that it was interrupted, and was not ended by the signal itself.
        guard status == 130 << 8 else { throw BenchmarkError("the program ended with \(status)") }
        return (closed, ended)
    }
}
