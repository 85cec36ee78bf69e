import Audit
import Auth
import Capabilities
import CoreTesting
import HostTesting
import JSON
import MCP
import MCPKit
import ModelKit
import ProcessKit
import Registry
import TurnLoop

/// What a call of a model costs more than the call itself: the turn loop with its decision, the schema of the tool, what was
/// approved before, and the audit log, over a C server.
enum MCPToolBenchmark {
    /// Calls in one answer of the model, and answers.
    private static let (calls, answers) = (60, 40)

    static func run() async throws -> [Figure] {
        try await TestWorkbench.run([AuditFeature.self, AuthFeature.self, MCPFeature.self]) { bench in
            let server = bench.folder + "/mcp_server"
            try Peers.build("mcp_server.c", to: server)
            let entry: JSON = ["command": .string(server), "args": ["0", "10"]]
            try bench.write(settings: (["mcp": ["servers": ["c": entry]]] as JSON).text())
            let direct = try await MCPPeers.program(server).whileRunning(by: Launcher.standalone) { transport in
                let client = MCPClient(of: "c", over: transport, as: MCPPeers.identity)
                return try await client.whileRunning {
                    _ = try await MCPPeers.time(client, 1_000)
                    return try await MCPPeers.time(client, 5_000).median
                }
            }
            return try await bench.open { (session) async throws in
                let place = ToolPlace(folder: bench.folder, isLastTurn: true)
                let sources = try await session.registry.toolSources(at: place) { _ in }
                var loop = TurnLoop(
                    sources: sources, policy: ApprovalPolicy(rules: [ApprovalRule(.allow, source: "c")], mode: .full),
                    clock: ContinuousClock(), now: session.host.now)
                loop.limits.rounds = answers + 1
                _ = try await time(loop)
                let plain = try await time(loop)
                loop.audit = session.registry.optional((any AuditLog).self).map { CallAudit($0) }
                let audited = try await time(loop)
                return [
                    Figure("a call through the turn loop, above the call", (plain - direct) * 1e6, "us", .atMost(60)),
                    Figure("the same in the audit log too", (audited - direct) * 1e6, "us", .atMost(60)),
                    Figure("the call itself", direct * 1e6, "us"),
                ]
            }
        }
    }

    /// The seconds of a call in a turn of many.
    private static func time(_ loop: TurnLoop) async throws -> Double {
        var request = ChatRequest(model: "scripted", messages: [Message(.user, "Do it.")])
        request.streams = false
        let model = ScriptedAnswers(calls: calls, answers: answers)
        let start = ContinuousClock.now
        let outcome = try await loop.run(request, asking: { request, _ in model.next(request) }) { _ in }
        guard outcome.calls == calls * answers, outcome.failedCalls == 0 else {
            throw BenchmarkError("\(outcome.failedCalls) of \(outcome.calls) calls failed: \(outcome.end)")
        }
        return (.now - start) / .seconds(1) / Double(calls * answers)
    }
}

/// A model that asks for many calls in each answer, until it has had enough.
private struct ScriptedAnswers: Sendable {
    let calls: Int
    let answers: Int

    func next(_ request: ChatRequest) -> ChatAnswer {
        let round = request.messages.count { $0.role == .assistant }
        guard round < answers else {
            return ChatAnswer(start: ChatStart(), message: Message(.assistant, "done"), finish: .stop)
        }
        let parts = (0..<calls).map { number in
            Message.Part.call(
                ToolCall(id: "c\(round)-\(number)", name: "c__tool_0", input: .object(MCPPeers.arguments)))
        }
        return ChatAnswer(start: ChatStart(), message: Message(.assistant, parts), finish: .calls)
    }
}
