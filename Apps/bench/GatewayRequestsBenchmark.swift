import FileKit
import HTTPTesting

/// `martlet gateway serve` under wrk against the same routes of FastAPI on uvicorn: the two that clients ask most, and a
/// completion that both account for in SQLite before they answer.
enum GatewayRequestsBenchmark {
    private static let rounds = 3

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let script = "\(folder)/completion.lua"
            try Files.writeAtomically(Array(completion.utf8), to: script)
            let completions = ["-s", script, "http://127.0.0.1:PORT/v1/chat/completions"]
            return try await GatewayServer.martlet(home: "\(folder)/home") { ours in
                try await GatewayServer.fastAPI(folder: folder) { theirs in
                    let health = try await compare(ours, theirs, ["http://127.0.0.1:PORT/health"])
                    let models = try await compare(ours, theirs, ["http://127.0.0.1:PORT/v1/models"])
                    let completion = try await compare(ours, theirs, completions)
                    return figures("/health", health, .atLeast(6)) + figures("/v1/models", models, .atLeast(6))
                        + figures("completion with its rows", completion, .atLeast(2))
                }
            }
        }
    }

    private static func figures(_ name: String, _ pair: Pair, _ goal: Figure.Goal) -> [Figure] {
        [
            Figure("\(name), requests a second: martlet / FastAPI", pair.ours.rate / pair.theirs.rate, "ratio", goal),
            Figure("\(name), martlet", pair.ours.rate, "requests/s"),
            Figure("\(name), FastAPI", pair.theirs.rate, "requests/s"),
            Figure(
                "\(name), processor time of a request: FastAPI / martlet", pair.theirs.cost / pair.ours.cost, "ratio"),
            Figure("\(name), processor time of a request, martlet", pair.ours.cost * 1e6, "us"),
        ]
    }

    private typealias Pair = (ours: Load, theirs: Load)

    /// What a server did under load.
    private struct Load {
        /// Requests a second.
        var rate = 0.0
        /// Seconds of processor time for each.
        var cost = Double.infinity
    }

    /// The best of some rounds in turns, because a machine's speed drifts.
    private static func compare(
        _ ours: GatewayServer, _ theirs: GatewayServer, _ request: [String]
    ) async throws -> Pair {
        var best = (ours: Load(), theirs: Load())
        for _ in 0..<rounds {
            try await measure(ours, request, &best.ours)
            try await measure(theirs, request, &best.theirs)
        }
        return best
    }

    private static func measure(_ server: GatewayServer, _ request: [String], _ best: inout Load) async throws {
        let before = try server.processorTime()
        let arguments = ["-t1", "-c64", "-d3", "-H", "Authorization: Bearer \(GatewayServer.token)"]
        let report = try await Peers.output(
            "wrk", arguments + request.map { $0.replacing("PORT", with: "\(server.port)") })
        let used = try server.processorTime() - before
        let words = report.split { $0 == " " || $0 == "\n" }
        guard !report.contains("Non-2xx"), !report.contains("Socket errors"),
            let place = words.firstIndex(of: "requests"), let count = Double(words[place - 1]),
            let label = words.firstIndex(of: "Requests/sec:"), let rate = Double(words[label + 1])
        else { throw BenchmarkError("wrk reports failures:\n\(report)") }
        best.rate = max(best.rate, rate)
        best.cost = min(best.cost, used / .seconds(1) / count)
    }

    /// For wrk: the request that the offline model, and its likeness in Python, answer at once.
    private static let completion = """
        wrk.method = "POST"
        wrk.headers["Content-Type"] = "application/json"
        wrk.body = '{"model": "martlet/martlet-offline", "messages": [{"role": "user", "content": "repeat: All is well."}]}'
        """
}
