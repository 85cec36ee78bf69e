import Capabilities
import CoreTesting
import Glibc
import HTTPServer
import JSON
import LoopKit
import MCPKit
import ProcessKit

/// Calls a second that our server and one of FastMCP answer, over standard input and output and over HTTP, asked by the
/// same C client, many at once.
enum MCPServeBenchmark {
    static let word = "mcp-server"
    private static let atOnce = 32

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let client = "\(folder)/mcp_client"
            try Peers.build("mcp_client.c", to: client)
            let own = "/proc/\(getpid())/exe"
            let fast = Peers.path("mcp_fastmcp.py")
            var pipes = (ours: 0.0, theirs: 0.0)
            var http = (ours: 0.0, theirs: 0.0)
            for _ in 0..<3 {
                pipes.ours = max(pipes.ours, try await overPipes(client, 50_000, own, [word, "stdio"]))
                pipes.theirs = max(pipes.theirs, try await overPipes(client, 2_000, MCPPeers.python, [fast, "stdio"]))
                http.ours = max(http.ours, try await overHTTP(client, 20_000, own, [word, "http"]))
                http.theirs = max(http.theirs, try await overHTTP(client, 1_000, MCPPeers.python, [fast, "http"]))
            }
            return [
                Figure("stdio, calls a second: ours / FastMCP", pipes.ours / pipes.theirs, "ratio", .atLeast(10)),
                Figure("HTTP, calls a second: ours / FastMCP", http.ours / http.theirs, "ratio", .atLeast(10)),
                Figure("ours over stdio", pipes.ours, "calls/s"), Figure("FastMCP over stdio", pipes.theirs, "calls/s"),
                Figure("ours over HTTP", http.ours, "calls/s"), Figure("FastMCP over HTTP", http.theirs, "calls/s"),
            ]
        }
    }

    private static let message = """
        {"jsonrpc":"2.0","id":@,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2},"_meta":{\
        "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},\
        "io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}}}
        """

    private static func overPipes(
        _ client: String, _ count: Int, _ server: String, _ arguments: [String]
    ) async throws -> Double {
        try await MCPPeers.ask(client, ["pipe", "\(count)", "\(atOnce)", message, server] + arguments).rate
    }

    private static func overHTTP(
        _ client: String, _ count: Int, _ server: String, _ arguments: [String]
    ) async throws -> Double {
        var command = Command(server, arguments, environment: ["PATH": "/usr/bin:/bin", "PYTHONUNBUFFERED": "1"])
        command.endsWithParent = true
        return try await Launcher.standalone.withChild(command, grace: .milliseconds(300)) { child in
            guard let line = try await child.output.nextLine() else {
                throw BenchmarkError("\(server) did not start: \(String(decoding: child.errorTail, as: UTF8.self))")
            }
            let port = String(decoding: line, as: UTF8.self)
            let body = message.replacing("@", with: "1")
            let request = [
                "POST /mcp HTTP/1.1", "Host: 127.0.0.1:\(port)", "Authorization: Bearer bench",
                "Content-Type: application/json", "Accept: application/json, text/event-stream",
                "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: add",
                "Content-Length: \(body.utf8.count)", "", body,
            ].joined(separator: "\r\n")
            // The first calls import and compile what the others use.
            _ = try await MCPPeers.ask(client, ["http", "\(count / 10)", "\(atOnce)", request, port])
            return try await MCPPeers.ask(client, ["http", "\(count)", "\(atOnce)", request, port]).rate
        }
    }

    // MARK: Our server

    /// Serves in this process, as the benchmark starts it.
    static func serve(_ way: String) async throws {
        let server = MCPServer(AddingService())
        guard way == "http" else { return try await server.serveStandardStreams(on: EventLoop()) }
        try await MCPHTTPServer(server).run(
            authenticate: { token in token == "bench" ? Principal("bench") : nil },
            { addresses in
                print(addresses.first?.port ?? 0)
                // The program that reads it is no terminal.
                fflush(nil)
            })
    }
}

/// Adds two numbers.
private struct AddingService: MCPService {
    let identity = MCPIdentity(name: "bench", version: "1")
    let changes = MCPChanges()
    private let add = MCPTool(
        name: "add", summary: "Adds two numbers.",
        input: [
            "type": "object", "properties": ["a": ["type": "integer"], "b": ["type": "integer"]],
            "required": ["a", "b"],
        ], output: ["type": "object", "properties": ["result": ["type": "integer"]], "required": ["result"]])

    func capabilities(for peer: MCPPeer) -> MCPServerCapabilities {
        var offered = MCPServerCapabilities()
        offered.tools = MCPServerCapabilities.Listing()
        return offered
    }

    func tools(for peer: MCPPeer) async throws -> [MCPTool] { [add] }

    func call(_ tool: String, _ arguments: JSONObject, in context: MCPCallContext) async throws -> MCPResult {
        guard tool == add.name, let a = arguments["a"]?.int, let b = arguments["b"]?.int else {
            throw MCPUnknown.tool(tool)
        }
        return MCPResult([.text("\(a + b)")], structured: ["result": .int(a + b)])
    }
}
