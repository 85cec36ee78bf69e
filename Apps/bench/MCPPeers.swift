import Capabilities
import CoreTesting
import FileKit
import HTTPServer
import JSON
import LoopKit
import MCPKit
import ProcessKit
import RPCKit
import Synchronization

/// What the benchmarks of MCP share: the C programs, our client and our server.
enum MCPPeers {
    static let identity = MCPIdentity(name: "bench", version: "1")
    static let arguments: JSONObject = ["a": 1, "b": 2]
    /// The Python with the modern SDK and FastMCP, which `make setup` installs.
    static let python = ".build/mcp-modern/bin/python"

    /// The C server as a child of ours, with the milliseconds until its first answer and the number of its tools.
    static func program(_ server: String, pause: Int = 0, tools: Int = 1) -> MCPProgram {
        MCPProgram(Command(server, ["\(pause)", "\(tools)"], environment: ["PATH": "/usr/bin:/bin"]))
    }

    /// Calls the tool of the C server, one call after the other, and returns the times.
    static func time(_ client: MCPClient, _ count: Int) async throws -> Samples {
        var samples = Samples()
        for _ in 0..<count {
            let start = ContinuousClock.now
            let result = try await client.call("tool_0", arguments)
            samples.add(.now - start)
            guard result.parts == [.text("3")] else { throw BenchmarkError("the server said something else") }
        }
        return samples
    }

    /// A request of our client as it is written, for a C program that shall write the same, with `@` for its id.
    static func message(of method: String, in transport: KeepingTransport) throws -> String {
        guard let request = transport.request(method) else { throw BenchmarkError("nothing was sent") }
        var bytes = RPCMessage.request(request).bytes
        let id = Array(#""id":\#(request.id)"#.utf8)
        guard let start = bytes.indices.first(where: { bytes[$0...].starts(with: id) }) else {
            throw BenchmarkError("the request has no id")
        }
        bytes.replaceSubrange(start..<start + id.count, with: #""id":@"#.utf8)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Runs `mcp_client` and returns the median of a call in seconds, and the calls a second.
    static func ask(_ client: String, _ arguments: [String]) async throws -> (median: Double, rate: Double) {
        let words = try await Peers.output(client, arguments).split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let median = Double(words[0]), let rate = Double(words[1]) else {
            throw BenchmarkError("\(client) did not end as it should")
        }
        return (median / 1e9, rate)
    }
}

/// Passes everything on, and keeps the last request of each method.
final class KeepingTransport: MCPTransport {
    private let inner: any MCPTransport
    private let kept = Mutex([String: RPCRequest]())

    init(_ inner: any MCPTransport) {
        self.inner = inner
    }

    func request(_ method: String) -> RPCRequest? { kept.withLock { $0[method] } }

    var isLasting: Bool { inner.isLasting }
    func settle(on version: MCPVersion) { inner.settle(on: version) }
    func forget() { inner.forget() }
    func learn(_ tools: [MCPTool], tell: (String) -> Void) -> [MCPTool] { inner.learn(tools, tell: tell) }
    func run(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws { try await inner.run(receive) }
    func close() { inner.close() }
    func send(_ message: RPCMessage) throws(RPCFailure) {
        if case .request(let request) = message { kept.withLock { $0[request.method] = request } }
        try inner.send(message)
    }
}
