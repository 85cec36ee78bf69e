import Capabilities
import JSON
import SchemaKit
import Synchronization

/// What a client remembers of the tools that its server has listed: which calls must be tasks, and what their structured
/// results look like. Schemas are compiled when they are first needed, since most tools are never called.
final class KnownTools: Sendable {
    private struct Tool {
        var mustBeTask = false
        var output: JSON?
        var compiled: JSONSchema?
    }

    private let tools = Mutex([String: Tool]())

    /// Takes the place of what was known before.
    func learn(_ listed: [MCPTool]) {
        let known = listed.filter { $0.output != nil || $0.tasks == .required }.map { tool in
            (tool.name, Tool(mustBeTask: tool.tasks == .required, output: tool.output))
        }
        tools.withLock { $0 = Dictionary(known) { first, _ in first } }
    }

    /// Whether the server runs calls of the tool only as tasks.
    func mustBeTask(_ tool: String) -> Bool { tools.withLock { $0[tool]?.mustBeTask == true } }

    /// The result without a structure that is not what the tool has promised; programs would rely on it.
    func checked(_ result: MCPResult, of tool: String, tell: (String) -> Void) -> MCPResult {
        guard !result.isError, let structured = result.structured else { return result }
        let schema: JSONSchema?
        do throws(SchemaError) { schema = try self.schema(of: tool) } catch {
            tell(
                "the schema of the results of \(PlainText.escape(tool)) is not valid: \(PlainText.escape(error.message))"
            )
            return result
        }
        guard let verdict = schema?.check(structured), verdict.outcome != .valid else { return result }
        let shown = PlainText.escape(tool)
        guard verdict.outcome == .invalid else {
            tell(
                "the structured result of \(shown) could not be checked: \(PlainText.escape(verdict.sentences.joined(separator: "; ")))"
            )
            return result
        }
        tell(
            "the structured result of \(shown) is not what it has promised: \(PlainText.escape(verdict.sentences.joined(separator: "; ")))"
        )
        return MCPResult(
            result.parts.isEmpty ? [.text(structured.text())] : result.parts, structured: nil, isError: result.isError)
    }

    private func schema(of tool: String) throws(SchemaError) -> JSONSchema? {
        let (output, known) = tools.withLock { ($0[tool]?.output, $0[tool]?.compiled) }
        if let known { return known }
        guard let output else { return nil }
        do throws(SchemaError) {
            let compiled = try JSONSchema(output)
            // Unless another list has come meanwhile.
            tools.withLock { if $0[tool]?.output == output { $0[tool]?.compiled = compiled } }
            return compiled
        } catch {
            // Told once, and not with each call.
            tools.withLock { $0[tool]?.output = nil }
            throw error
        }
    }
}
