import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import LoopKit
import MCPKit
import ProcessKit

/// One call after the other over HTTP, from a C server: our client against a C program that posts the same bytes with
/// libcurl.
enum MCPHTTPBenchmark {
    private static let count = 5_000

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let (server, client) = ("\(folder)/mcp_server", "\(folder)/mcp_post")
            try Peers.build("mcp_server.c", to: server)
            try Peers.build("mcp_post.c", to: client, libraries: ["curl"])
            var command = Command(server, ["0", "1", "http"], environment: ["PATH": "/usr/bin:/bin"])
            command.input = .pipe
            return try await Launcher.standalone.withChild(command) { child in
                guard let line = try await child.output.nextLine() else { throw BenchmarkError("no port") }
                let address = "http://127.0.0.1:\(String(decoding: line, as: UTF8.self))/mcp"
                var (ours, theirs) = (Double.infinity, Double.infinity)
                for _ in 0..<5 {
                    let (message, median) = try await measure(address)
                    let headers = [
                        "Content-Type: application/json", "Accept: application/json, text/event-stream",
                        "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: tool_0",
                    ]
                    let body = message.replacing("@", with: "1234")
                    let told = try await Peers.output(client, [address, "\(count)", body] + headers)
                    guard let median2 = Double(told.filter { !$0.isWhitespace }) else { throw BenchmarkError(told) }
                    (ours, theirs) = (min(ours, median), min(theirs, median2 / 1e9))
                }
                return [
                    Figure("one call after the other: ours / libcurl", ours / theirs, "ratio", .atMost(1.5)),
                    Figure("ours", ours * 1e6, "us"), Figure("a post with libcurl", theirs * 1e6, "us"),
                ]
            }
        }
    }

    /// The bytes of a call, and the median of one in seconds.
    private static func measure(_ address: String) async throws -> (message: String, median: Double) {
        let http = HTTPClient(.standalone)
        let kept = KeepingTransport(MCPServerAddress(try HTTPURL(address)).transport(by: http))
        let client = MCPClient(of: "c", over: kept, as: MCPPeers.identity)
        let measured = try await client.whileRunning {
            _ = try await MCPPeers.time(client, 500)
            let median = try await MCPPeers.time(client, count).median
            return (try MCPPeers.message(of: "tools/call", in: kept), median)
        }
        await http.close()
        return measured
    }
}
