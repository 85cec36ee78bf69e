import Capabilities
import JSON
import Synchronization

/// A tool that edits a file, one that runs a command in a sandbox, and one that cannot work. Their targets change
/// before they run, as often as a test requests.
final class ReachingTools: ToolSource {
    let name = "files"
    private let state: Mutex<(changes: Int, version: Int, grants: [Grant])>

    init(changing changes: Int = 0) {
        state = Mutex((changes, 0, []))
    }

    /// How often a tool has run to its end.
    var runs: Int { grants.count }
    /// What it might do each time.
    var grants: [Grant] { state.withLock { $0.grants } }

    func tools() async throws -> [ToolDescription] {
        ["write", "run", "broken"].map {
            ToolDescription(name: $0, summary: "Does \($0)", input: ["type": "object"], effect: .writes)
        }
    }

    func reach(of call: ToolCall) async throws -> ToolReach {
        if call.name == "broken" { throw ToolFault() }
        var reach = ToolReach(diff: call.name == "write" ? "-old\n+new \(call.id)\n" : nil)
        reach.state = state.withLock { $0.version }
        reach.onlyWritesPaths = call.name == "write"
        if call.name == "run" { reach.command = ToolReach.Command("make", isSandboxed: true) }
        return reach
    }

    func run(_ call: ToolCall) async throws -> ToolResult { throw ToolFault() }

    func run(
        _ call: ToolCall, reaching agreed: ToolReach, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult {
        try state.withLock { state in
            if state.changes > 0 { (state.changes, state.version) = (state.changes - 1, state.version + 1) }
            guard agreed.state == state.version else { throw ToolReachChanged() }
            state.grants.append(Caller.grantHere)
        }
        return ToolResult(call: call.id, content: "did \(call.name)")
    }
}
