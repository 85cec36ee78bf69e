public import Capabilities
import JSON

/// The tools with which a model looks around in a workspace: `fs.read`, `ls`, `glob` and `grep.search`.
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
    private let all: [any FileTool] = [ReadTool(), ListTool(), GlobTool(), SearchTool()]
    private let workspace: Workspace

    /// Offers a folder that is open.
    public init(_ workspace: Workspace) {
        self.workspace = workspace
    }

    public var name: String { "files" }

    public func tools() async throws -> [ToolDescription] {
        all.map(\.description)
    }

    public func run(_ call: ToolCall) async throws -> ToolResult {
        do {
            guard let tool = all.first(where: { $0.name == call.name }) else {
                let name = PlainText.escape(call.name).quotedForMessage
                throw WorkspaceError(
                    .input, "there is no tool \(name)\(Suggestion.text(for: call.name, among: all.map(\.name)))")
            }
            let input = try ToolInput(call.input, tool.properties)
            return ToolResult(call: call.id, content: try await tool.run(input, in: workspace))
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
