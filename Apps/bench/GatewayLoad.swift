import FileKit

/// The performance of a server under wrk.
struct GatewayLoad {
    /// Requests a second.
    private(set) var rate = 0.0
    /// Seconds of processor time for each request.
    private(set) var cost = Double.infinity

    /// The better of both figures.
    mutating func improve(_ other: GatewayLoad) {
        rate = max(rate, other.rate)
        cost = min(cost, other.cost)
    }

    /// Sends as many requests as a server answers in three seconds.
    ///
    /// - Parameter request: words for wrk, in which `PORT` stands for that of the server.
    static func under(_ request: [String], _ server: GatewayServer) async throws -> GatewayLoad {
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
        return GatewayLoad(rate: rate, cost: used / .seconds(1) / count)
    }

    /// The words for completions, which the offline model and its Python copy answer at once.
    ///
    /// - Parameter folder: gets the script that wrk needs for them.
    static func completions(in folder: String) throws -> [String] {
        let script = "\(folder)/completion.lua"
        try Files.writeAtomically(Array(completion.utf8), to: script)
        return ["-s", script, "http://127.0.0.1:PORT/v1/chat/completions"]
    }

    private static let completion = """
        wrk.method = "POST"
        wrk.headers["Content-Type"] = "application/json"
        wrk.body = '{"model": "martlet/martlet-offline", "messages": [{"role": "user", "content": "repeat: All is well."}]}'
        """
}
