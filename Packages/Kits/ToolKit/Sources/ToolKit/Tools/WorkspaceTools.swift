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
        let seen = SeenFiles()
        var offered: [any WorkspaceTool] = [ReadTool(seen: seen), ListTool(), GlobTool(), SearchTool()]
        if offer != .reading {
            offered += [WriteTool(seen: seen), MultiWriteTool(seen: seen)] as [any WorkspaceTool]
            offered += [PatchTool(seen: seen), EditTool(seen: seen)] as [any WorkspaceTool]
        }
        if offer == .all { offered.append(ShellTool(shell)) }
        self.offered = offered
    }

    public var name: String { "files" }

    public func tools() async throws -> [ToolDescription] {
        offered.map(\.description)
    }

    public func run(_ call: ToolCall) async throws -> ToolResult {
        try await run(call) { _ in }
    }

    public func run(
        _ call: ToolCall, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult {
        do {
            guard let tool = offered.first(where: { $0.name == call.name }) else {
                let name = PlainText.escape(call.name).quotedForMessage
                throw WorkspaceError(
                    .input, "there is no tool \(name)\(Suggestion.text(for: call.name, among: offered.map(\.name)))")
            }
            let input = try ToolInput(call.input, tool.properties)
            let outcome = try await tool.outcome(input, in: workspace, telling: tell)
            return ToolResult(
                call: call.id, content: outcome.text, isError: outcome.isError, exitCode: outcome.exitCode)
        } catch let error as CancellationError {
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
