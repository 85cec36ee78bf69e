public import Capabilities
import JSON

/// The tools with which a model works in a folder: it looks around with `fs.read`, `ls`, `glob` and `grep.search`, writes
/// with `fs.write`, `multi.write`, `edit.file` and `multi.edit`, and runs commands with `bash.run`.
///
/// ```swift
/// let tools = WorkspaceTools(try Workspace("/home/ada/project"))
/// let call = ToolCall(id: "1", name: "fs.read", input: ["path": "README.md"])
/// let text = try await tools.run(call).content
/// ```
///
/// What goes wrong is a result with `isError` whose sentence a model can act on. Only a workspace that is gone throws,
/// and a task that was cancelled, which ends within moments: all work is done on threads of its own.
public final class WorkspaceTools: ToolSource {
    /// How much a model may do.
    public enum Offer: Sendable, Hashable, CaseIterable {
        /// To look around.
        case reading
        /// To write files as well.
        case editing
        /// To run commands too, which can do whatever the user can.
        case all
    }

    private let offered: [any WorkspaceTool]
    private let workspace: Workspace

    /// Offers a folder that is open. `shell` is how commands are run, where they are offered.
    public init(_ workspace: Workspace, offering offer: Offer = .reading, shell: ShellOptions = ShellOptions()) {
        self.workspace = workspace
        let fileTools = Self.fileTools()
        offered =
            switch offer {
            case .reading: fileTools.filter { $0.effect == .reads }
            case .editing: fileTools
            case .all: fileTools + [ShellTool(shell)]
            }
    }

    private static func fileTools() -> [any WorkspaceTool] {
        let seen = SeenFiles()
        return [
            ReadTool(seen: seen), ListTool(), GlobTool(), SearchTool(), WriteTool(seen: seen),
            MultiWriteTool(seen: seen), PatchTool(seen: seen), EditTool(seen: seen),
        ]
    }

    /// What the source is called.
    public static let name = "files"

    public var name: String { Self.name }

    /// The tools by which files are read and written, whichever of them are offered.
    public static var fileDescriptions: [ToolDescription] { fileTools().map(\.description) }

    public func tools() async throws -> [ToolDescription] {
        offered.map(\.description)
    }

    private func tool(_ call: ToolCall) throws -> (tool: any WorkspaceTool, input: ToolInput) {
        guard let tool = offered.first(where: { $0.name == call.name }) else {
            let name = PlainText.escape(call.name).quotedForMessage
            throw WorkspaceError(
                .input, "there is no tool \(name)\(Suggestion.text(for: call.name, among: offered.map(\.name)))")
        }
        return (tool, try ToolInput(call.input, tool.properties))
    }

    public func reach(of call: ToolCall) async throws -> ToolReach {
        let (tool, input) = try tool(call)
        return try await tool.reach(input, in: workspace)
    }

    public func run(_ call: ToolCall) async throws -> ToolResult {
        try await run(call, reaching: nil) { _ in }
    }

    public func run(
        _ call: ToolCall, reaching agreed: ToolReach, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult {
        try await run(call, reaching: agreed as ToolReach?, telling: tell)
    }

    private func run(
        _ call: ToolCall, reaching agreed: ToolReach?, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult {
        do {
            let (tool, input) = try tool(call)
            let outcome = try await tool.outcome(input, in: workspace, reaching: agreed, telling: tell)
            return ToolResult(
                call: call.id, content: outcome.text, isError: outcome.isError, exitCode: outcome.exitCode)
        } catch let error as CancellationError {
            throw error
        } catch let error as ToolReachChanged {
            throw error
        } catch let error as WorkspaceError where error.kind == .gone {
            throw error
        } catch {
            return ToolResult(call: call.id, content: AnyFailure(error).message, isError: true)
        }
    }

    /// The version of libpcre2-8 in use.
    public static var patternLibraryVersion: String { LinePattern.libraryVersion }
}
