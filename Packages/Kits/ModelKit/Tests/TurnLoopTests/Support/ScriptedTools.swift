import Capabilities
import JSON
import Synchronization

/// Scripted tools, with a record of when they ran.
final class ScriptedTools: ToolSource {
    typealias Body = @Sendable (ToolCall) async throws -> ToolResult

    let name: String
    private let offered: [(ToolDescription, Body)]
    private let problem: (any Error)?
    private let record = Mutex<(calls: [ToolCall], running: Set<String>, most: Int, overlaps: [Set<String>])>(
        ([], [], 0, []))

    init(_ name: String, failing problem: (any Error)? = nil, _ tools: [(ToolDescription, Body)] = []) {
        self.name = name
        self.problem = problem
        offered = tools
    }

    convenience init(_ tools: [(ToolDescription, Body)]) {
        self.init("scripted", tools)
    }

    /// The calls in the order in which they began.
    var calls: [ToolCall] { record.withLock { $0.calls } }
    /// The maximum number that ran in parallel.
    var most: Int { record.withLock { $0.most } }
    /// The tools that ran in parallel to another.
    var overlaps: [Set<String>] { record.withLock { $0.overlaps } }

    func tools() async throws -> [ToolDescription] {
        if let problem { throw problem }
        return offered.map(\.0)
    }

    func run(_ call: ToolCall) async throws -> ToolResult {
        record.withLock { record in
            record.calls.append(call)
            record.running.insert("\(call.name) \(call.id)")
            record.most = max(record.most, record.running.count)
            if record.running.count > 1 { record.overlaps.append(record.running) }
        }
        defer { record.withLock { _ = $0.running.remove("\(call.name) \(call.id)") } }
        guard let body = offered.first(where: { $0.0.name == call.name })?.1 else { throw ToolFault() }
        return try await body(call)
    }
}

struct ToolFault: Failure {
    var code: String { "test.fault" }
    var message: String { "the server behind the tool is gone" }
}

/// A tool that answers with its name and its input.
func tool(
    _ name: String, _ effect: Effect = .reads,
    _ body: @escaping ScriptedTools.Body = { ToolResult(call: "", content: "\($0.name) \($0.input)") }
) -> (ToolDescription, ScriptedTools.Body) {
    let input: JSON = ["type": "object", "properties": ["path": ["type": "string"]]]
    return (ToolDescription(name: name, summary: "Does \(name)", input: input, effect: effect), body)
}
