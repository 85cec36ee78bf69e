import CoreTesting
import MCPKit
import ProcessKit

/// One call after the other, and a hundred at once, over the pipes of a C server: our client against a C client that
/// writes the same bytes and blocks, and against the reference client. A hundred at once are a hundred tasks here and a
/// hundred blocked threads there; one thread of C that keeps a hundred messages under way is shown too.
enum MCPCallBenchmark {
    private static let (count, many, atOnce) = (20_000, 100_000, 100)

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let (server, client) = ("\(folder)/mcp_server", "\(folder)/mcp_client")
            try Peers.build("mcp_server.c", to: server)
            try Peers.build("mcp_client.c", to: client)
            var ours = Measured()
            var (theirs, threads, pipelined) = (Double.infinity, 0.0, 0.0)
            for _ in 0..<5 {
                let measured = try await measure(server)
                let message = measured.message
                let one = try await MCPPeers.ask(client, ["pipe", "\(count)", "1", message, server])
                let many = ["\(Self.many)", "\(atOnce)", message, server]
                ours.improve(by: measured)
                theirs = min(theirs, one.median)
                threads = max(threads, try await MCPPeers.ask(client, ["threads"] + many).rate)
                pipelined = max(pipelined, try await MCPPeers.ask(client, ["pipe"] + many).rate)
            }
            let answer = try await Peers.output(MCPPeers.python, [Peers.path("mcp_call.py"), "3000", server])
            guard let reference = Double(answer.filter { !$0.isWhitespace }) else { throw BenchmarkError(answer) }
            return [
                Figure("one call after the other: ours / blocking C", ours.median / theirs, "ratio", .atMost(5)),
                Figure("the same on the thread that reads / blocking C", ours.onReader / theirs, "ratio", .atMost(2)),
                Figure("the reference client / ours", reference / 1e9 / ours.median, "ratio", .atLeast(5)),
                Figure("\(atOnce) at once, calls a second: ours / C", ours.rate / threads, "ratio", .atLeast(0.5)),
                Figure("\(atOnce) at once: ours / one thread of C", ours.rate / pipelined, "ratio"),
                Figure("ours", ours.median * 1e6, "us"), Figure("on the thread that reads", ours.onReader * 1e6, "us"),
                Figure("blocking C", theirs * 1e6, "us"), Figure("the reference client", reference / 1e3, "us"),
                Figure("ours, \(atOnce) at once", ours.rate, "calls/s"),
                Figure("C, \(atOnce) threads", threads, "calls/s"),
                Figure("C, \(atOnce) at once by one thread", pipelined, "calls/s"),
            ]
        }
    }

    private struct Measured {
        var message = ""
        /// The median of a call in seconds.
        var median = Double.infinity
        /// The same by a task that runs on the thread which reads the answers.
        var onReader = Double.infinity
        /// How many calls a second are possible at once.
        var rate = 0.0

        mutating func improve(by other: Measured) {
            (median, onReader, rate) = (min(median, other.median), min(onReader, other.onReader), max(rate, other.rate))
        }
    }

    private static func measure(_ server: String) async throws -> Measured {
        let launcher = Launcher.standalone
        return try await MCPPeers.program(server).whileRunning(by: launcher) { transport in
            let kept = KeepingTransport(transport)
            let client = MCPClient(of: "c", over: kept, as: MCPPeers.identity)
            return try await client.whileRunning {
                _ = try await MCPPeers.time(client, 1_000)
                var measured = Measured()
                measured.median = try await MCPPeers.time(client, count).median
                measured.onReader = try await withTaskExecutorPreference(launcher.executor) {
                    try await MCPPeers.time(client, count).median
                }
                let start = ContinuousClock.now
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<atOnce {
                        group.addTask { _ = try await MCPPeers.time(client, many / atOnce) }
                    }
                    try await group.waitForAll()
                }
                measured.rate = Double(many) / ((.now - start) / .seconds(1))
                measured.message = try MCPPeers.message(of: "tools/call", in: kept)
                return measured
            }
        }
    }
}
