import Capabilities
import CoreTesting
import MCPKit
import ProcessKit

/// Fifty C servers whose first answer takes 300 ms, connected side by side; and the memory that such a connection needs
/// when nothing happens.
enum MCPManyBenchmark {
    private static let (servers, pause, tools) = (50, 300, 10)

    static func run() async throws -> [Figure] {
        try await TemporaryDirectory.run { folder in
            let server = "\(folder)/mcp_server"
            try Peers.build("mcp_server.c", to: server)
            let launcher = Launcher.standalone
            // The first connections grow what all share.
            _ = try await connect(3, server, launcher)
            let one = try await connect(1, server, launcher)
            let many = try await connect(servers, server, launcher)
            // Each process that is started may cost a millisecond.
            let allowed = 1.2 * one.seconds + Double(servers) / 1_000
            return [
                Figure(
                    "\(servers) servers side by side / 1.2 x one + 1 ms each", many.seconds / allowed, "ratio",
                    .atMost(1)),
                Figure("one", one.seconds * 1e3, "ms"), Figure("\(servers)", many.seconds * 1e3, "ms"),
                Figure(
                    "memory of an idle server of \(tools) tools", Double(many.bytes) / Double(servers), "bytes",
                    .atMost(65_536)),
            ]
        }
    }

    /// How long it takes until all servers have said who they are and which tools they have, and the memory of this process
    /// that they need then.
    private static func connect(
        _ count: Int, _ server: String, _ launcher: Launcher
    ) async throws -> (seconds: Double, bytes: Int) {
        let before = try TestProcess.residentBytes()
        let start = ContinuousClock.now
        let ready = Promise<Void>()
        let connected = AsyncStream.makeStream(of: Void.self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await MCPPeers.program(server, pause: pause, tools: tools).whileRunning(by: launcher) {
                        transport in
                        let client = MCPClient(of: "c", over: transport, as: MCPPeers.identity)
                        try await client.whileRunning {
                            let listed = try await client.tools()
                            guard listed.count == tools else { throw BenchmarkError("there are \(listed.count) tools") }
                            connected.continuation.yield()
                            try await ready.value()
                            // Kept until then, as the program keeps them.
                            withExtendedLifetime(listed) {}
                        }
                    }
                }
            }
            defer { ready.settle(()) }
            var arrived = connected.stream.makeAsyncIterator()
            for _ in 0..<count { await arrived.next() }
            let seconds = (.now - start) / .seconds(1)
            let bytes = try TestProcess.residentBytes() - before
            ready.settle(())
            try await group.waitForAll()
            return (seconds, bytes)
        }
    }
}
