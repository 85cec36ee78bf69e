import Capabilities
import GatewayStore
import JSON

/// What a turn may use of a source: the tools that were selected. It counts and traces their runs.
final class OfferedTools: ToolSource {
    private let source: any ToolSource
    /// Nil for all.
    private let selected: [String]?
    private let runs: ToolRuns
    private let tracer: Tracer

    init(_ source: any ToolSource, selected: [String]?, runs: ToolRuns, tracer: Tracer) {
        self.source = source
        self.selected = selected
        self.runs = runs
        self.tracer = tracer
    }

    var name: String { source.name }

    func tools() async throws -> [ToolDescription] {
        try await source.tools().filter { tool in selected?.contains { Self.isTool(tool.name, called: $0) } ?? true }
    }

    /// Whether somebody who says `word` means a tool: by its own name, or as a model knows it, because most providers
    /// take neither dots nor long names.
    static func isTool(_ tool: String, called word: String) -> Bool {
        word == tool || word == plain(tool)
    }

    /// As `TurnLoop` makes them: letters, digits, `_` and `-`, up to 64.
    private static func plain(_ name: String) -> String {
        String(
            name.unicodeScalars.prefix(64).map { scalar -> Character in
                switch scalar {
                case "a"..."z", "A"..."Z", "0"..."9", "_", "-": Character(scalar)
                default: "_"
                }
            })
    }

    func reach(of call: ToolCall) async throws -> ToolReach { try await source.reach(of: call) }

    func run(_ call: ToolCall) async throws -> ToolResult {
        try await counted(call) { try await $0.run(call) }
    }

    func run(
        _ call: ToolCall, reaching agreed: ToolReach, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult {
        try await counted(call) { try await $0.run(call, reaching: agreed, telling: tell) }
    }

    private func counted(
        _ call: ToolCall, _ run: @escaping @Sendable (any ToolSource) async throws -> ToolResult
    ) async throws -> ToolResult {
        try await runs.run {
            try await tracer.span(
                "gateway.tool", feature: "gateway", attributes: ["tool": .string(call.name), "source": .string(name)]
            ) { notes in
                let result = try await run(source)
                notes.note("is_error", .bool(result.isError))
                return result
            }
        }
    }
}
