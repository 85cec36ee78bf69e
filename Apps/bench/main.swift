import Glibc

// make bench [ONLY=id]: one tab-separated line per figure, peers measured in the same run.

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == GatewayStreamsServer.word {
    try await GatewayStreamsServer.run(CommandLine.arguments[2])
    exit(0)
}
if CommandLine.arguments.dropFirst().first == ShellWorkbench.word {
    exit(ShellWorkbench.run(Array(CommandLine.arguments.dropFirst(2))))
}
if CommandLine.arguments.count == 3, CommandLine.arguments[1] == MCPServeBenchmark.word {
    try await MCPServeBenchmark.serve(CommandLine.arguments[2])
    exit(0)
}
if CommandLine.arguments.count == 3, CommandLine.arguments[1] == TraceExportBenchmark.word {
    try TraceExportBenchmark.encode(CommandLine.arguments[2])
    exit(0)
}
let wanted = CommandLine.arguments.dropFirst().first
let benchmarks: [(id: String, run: @Sendable () async throws -> [Figure])] = [
    ("start", StartBenchmark.run),
    ("lookup", LookupBenchmark.run),
    ("door", DoorBenchmark.run),
    ("granted-open", GrantedOpenBenchmark.run),
    ("session", SessionBenchmark.run),
    ("compose", ComposeBenchmark.run),
    ("json", JSONBenchmark.run),
    ("json-stream", JSONStreamBenchmark.run),
    ("schema", SchemaBenchmark.run),
    ("span", SpanBenchmark.run),
    ("trace-export", TraceExportBenchmark.run),
    ("trace-query", TraceQueryBenchmark.run),
    ("trace-cost", TraceCostBenchmark.run),
    ("http-download", DownloadBenchmark.run),
    ("http-small", SmallRequestsBenchmark.run),
    ("events", EventsBenchmark.run),
    ("websocket", WebSocketBenchmark.run),
    ("cancel", CancelBenchmark.run),
    ("server", ServerBenchmark.run),
    ("store", StoreBenchmark.run),
    ("vault", VaultBenchmark.run),
    ("history", HistoryBenchmark.run),
    ("chat-stream", ChatStreamBenchmark.run),
    ("chat-start", ChatStartBenchmark.run),
    ("stop", StopBenchmark.run),
    ("grep", GrepBenchmark.run),
    ("mcp-call", MCPCallBenchmark.run),
    ("mcp-tool", MCPToolBenchmark.run),
    ("mcp-http", MCPHTTPBenchmark.run),
    ("mcp-serve", MCPServeBenchmark.run),
    ("mcp-many", MCPManyBenchmark.run),
    ("sandbox", SandboxBenchmark.run),
    ("ssh-fanout", SSHFanoutBenchmark.run),
    ("runner-steps", RunnerBenchmark.run),
    ("gateway-requests", GatewayRequestsBenchmark.run),
    ("gateway-streams", GatewayStreamsBenchmark.run),
    ("gateway-stop", GatewayStopBenchmark.run),
    ("shell-start", ShellStartBenchmark.run),
    ("shell-key", ShellKeyBenchmark.run),
    ("shell-stream", ShellStreamBenchmark.run),
    ("shell-scroll", ShellScrollBenchmark.run),
    ("shell-idle", ShellIdleBenchmark.run),
]

var isMissing = false
for (id, run) in benchmarks where wanted == nil || wanted == id {
    do {
        for figure in try await run() { print(figure.line(id)) }
    } catch {
        isMissing = true
        print("\(id)\tmissing\t\(error)\t\t\tmissing")
    }
    fflush(nil)
}
if let wanted, !benchmarks.contains(where: { $0.id == wanted }) {
    print("\(wanted)\tmissing\tno such benchmark\t\t\tmissing")
    isMissing = true
}
exit(isMissing ? 1 : 0)
