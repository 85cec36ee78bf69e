import Capabilities
import CoreTesting
import JSON
import Synchronization
import Testing

@testable import GatewayTurns

/// Tools that record their calls.
final class TestTools: ToolSource {
    let name: String
    private let offered: [ToolDescription]
    private let calls = Mutex<[ToolCall]>([])
    /// Settled when a hanging tool has started.
    let began = Promise<Void>()
    private let ended = Mutex(0)

    init(
        _ name: String = "machines",
        _ tools: [(name: String, effect: Effect)] = [("look.up", .reads), ("change", .writes)]
    ) {
        self.name = name
        offered = tools.map { tool in
            ToolDescription(
                name: tool.name, summary: "A tool for tests", input: ["type": "object"], effect: tool.effect,
                limit: .seconds(3600))
        }
    }

    /// The calls, in order.
    var done: [ToolCall] { calls.withLock { $0 } }
    /// How many hanging tools were cancelled.
    var cancelled: Int { ended.withLock { $0 } }

    func tools() async throws -> [ToolDescription] { offered }

    func run(_ call: ToolCall) async throws -> ToolResult { try await run(call, reaching: ToolReach()) { _ in } }

    func run(
        _ call: ToolCall, reaching agreed: ToolReach, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult {
        calls.withLock { $0.append(call) }
        if call.input["hang"]?.bool == true {
            await tell("working\n")
            began.settle(())
            defer { ended.withLock { $0 += 1 } }
            try await TestClock().sleep(for: .seconds(1))
        }
        return ToolResult(call: call.id, content: "did \(call.name)")
    }
}
