public import Capabilities
import JSON
import PatternKit

/// The tools for a model to work in a folder: reading with `fs.read`, `ls`, `glob` and `grep.search`, writing with
/// `fs.write`, `multi.write`, `edit.file` and `multi.edit`, and running commands with `bash.run`.
///
/// ```swift
/// let tools = WorkspaceTools(try Workspace("/home/ada/project"))
/// let call = ToolCall(id: "1", name: "fs.read", input: ["path": "README.md"])
/// let text = try await tools.run(call).content
/// ```
///
/// An error becomes a result with `isError` and a message that a model can act on. Only a removed workspace and a
/// cancelled task throw. A cancelled task ends within moments, because all work runs on separate threads.
public final class WorkspaceTools: ToolSource {
    /// Which tools a model may use.
    public enum Offer: Sendable, Hashable, CaseIterable {
        /// Reading.
        case reading
        /// Reading and writing files.
        case editing
        /// All tools, including commands, which can do whatever the user can.
        case all
    }

    private let offered: [any WorkspaceTool]
    private let workspace: Workspace

    /// Offers tools for an open folder. `shell` sets how commands run, if they are offered.
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

    /// The name of the source.
    public static let name = "files"

    /// The name of the tool that runs commands.
    public static let command = "bash.run"

    public var name: String { Self.name }

    /// The tools for reading and writing files, whether or not they are offered.
    public static var fileDescriptions: [ToolDescription] { fileTools().map(\.description) }

    public func tools() async throws -> [ToolDescription] {
        offered.map(\.description)
    }

    private func tool(_ call: ToolCall) throws -> (tool: any WorkspaceTool, input: ToolInput) {
        guard let tool = offered.first(where: { $0.name == call.name }) else {
            let name = PlainText.escape(call.name).quotedForMessage
            throw WorkspaceError(
                .input, "unknown tool \(name)\(Suggestion.text(for: call.name, among: offered.map(\.name)))")
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

    /// Runs a call that the person has written. Nobody has approved it, so there is nothing that must still be as it was
    /// at that time.
    public func runForPerson(
        _ call: ToolCall, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult {
        try await run(call, reaching: nil, telling: tell)
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

    /// The version of libpcre2-8.
    public static var patternLibraryVersion: String { Pattern.libraryVersion }
}
