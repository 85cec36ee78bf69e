import Capabilities
import HTTPServer
import JSON
import MCPKit
import RPCKit
import Synchronization

/// A service whose calls become tasks.
final class TaskService: MCPService {
    private struct State {
        var begun = 0
        var cancelled = 0
    }

    let identity = MCPIdentity(name: "tasks", version: "1")
    let changes = MCPChanges()
    /// Lets `slow` end.
    let mayEnd = Promise<Void>()
    let news = Signal()
    private let state = Mutex(State())

    /// The calls of `slow` that have begun, and those that were cancelled.
    var begun: Int { state.withLock { $0.begun } }
    var cancelled: Int { state.withLock { $0.cancelled } }

    func wait(until isDone: (TaskService) -> Bool) async throws {
        while true {
            let seen = news.count
            if isDone(self) { return }
            try await news.wait(beyond: seen)
        }
    }

    func capabilities(for peer: MCPPeer) -> MCPServerCapabilities {
        var offered = MCPServerCapabilities()
        offered.tools = MCPServerCapabilities.Listing()
        (offered.tasks, offered.logging) = (true, true)
        return offered
    }

    func tools(for peer: MCPPeer) async throws -> [MCPTool] {
        [
            MCPTool(name: "slow", summary: "Ends when it may.", tasks: .optional),
            MCPTool(name: "large", summary: "Gives a long text.", tasks: .optional),
            MCPTool(name: "must", summary: "Is always a task.", tasks: .required),
            MCPTool(name: "ask", summary: "Asks the person.", tasks: .required),
            MCPTool(name: "both", summary: "Asks the person two things at once.", tasks: .optional),
            MCPTool(name: "first", summary: "Asks the person and then ends when it may.", tasks: .required),
            MCPTool(name: "fail", summary: "Fails.", tasks: .required),
            MCPTool(name: "break", summary: "Breaks the protocol.", tasks: .required),
            MCPTool(name: "quick", summary: "Is never a task."),
        ]
    }

    func call(_ tool: String, _ arguments: JSONObject, in context: MCPCallContext) async throws -> MCPResult {
        switch tool {
        case "slow":
            context.progress(1, of: 2, message: "halfway")
            state.withLock { $0.begun += 1 }
            news.raise()
            do { try await mayEnd.value() } catch {
                state.withLock { $0.cancelled += 1 }
                news.raise()
                throw error
            }
            return MCPResult("done for \(context.peer.principal?.name ?? "nobody")")
        case "large": return MCPResult(String(repeating: "a", count: arguments["bytes"]?.int ?? 0))
        case "must": return MCPResult([.text("made")], structured: ["value": 1])
        case "ask": return MCPResult(try await color(in: context))
        case "both":
            async let one = color(in: context)
            async let other = color(in: context)
            return MCPResult([try await one, try await other].sorted().joined(separator: " "))
        case "first":
            let color = try await color(in: context)
            try await mayEnd.value()
            return MCPResult(color)
        case "fail": return MCPResult("because", isError: true)
        case "break": throw RPCError(-32000, "broken", data: ["part": 5])
        case "quick": return MCPResult("now")
        default: throw MCPUnknown.tool(tool)
        }
    }

    private func color(in context: MCPCallContext) async throws -> String {
        let question = MCPElicitation.form(
            message: "Which color?", schema: ["type": "object", "properties": ["color": ["type": "string"]]])
        guard case .accept(let values) = try await context.elicit(question) else { return "no color" }
        return values["color"]?.string ?? "?"
    }
}

extension MCPServer.Limits {
    /// Every call that may becomes a task at once, and tasks are asked for without pauses.
    static func tasks(_ change: (inout MCPTaskLimits) -> Void = { _ in }) -> MCPServer.Limits {
        var limits = MCPServer.Limits()
        (limits.tasks.patience, limits.tasks.pause) = (.zero, .milliseconds(20))
        change(&limits.tasks)
        return limits
    }
}
