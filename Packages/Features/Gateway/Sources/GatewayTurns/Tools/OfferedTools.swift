import Capabilities
import GatewayStore
import JSON

/// What a turn may use of a source: the tools that were selected. It notes their names, counts and traces their runs.
final class OfferedTools: ToolSource {
    private let source: any ToolSource
    /// Nil for all.
    private let selected: [String]?
    private let names: ToolNames
    private let runs: ToolRuns
    private let tracer: Tracer

    init(_ source: any ToolSource, selected: [String]?, names: ToolNames, runs: ToolRuns, tracer: Tracer) {
        self.source = source
        self.selected = selected
        self.names = names
        self.runs = runs
        self.tracer = tracer
    }

    var name: String { source.name }

    func tools() async throws -> [ToolDescription] {
        let tools = try await source.tools().filter { tool in
            selected?.contains { $0 == tool.name || $0 == ToolNames.plain(tool.name) } ?? true
        }
        for tool in tools { names.learn(tool.name, of: name) }
        return tools
    }

    func run(_ call: ToolCall) async throws -> ToolResult {
        try await run(call) { _ in }
    }

    func run(_ call: ToolCall, telling tell: @escaping @Sendable (String) async -> Void) async throws -> ToolResult {
        try await runs.run {
            try await tracer.span(
                "gateway.tool", feature: "gateway", attributes: ["tool": .string(call.name), "source": .string(name)]
            ) { notes in
                let result = try await source.run(call, telling: tell)
                notes.note("is_error", .bool(result.isError))
                return result
            }
        }
    }
}
