import Capabilities
import JSON
import MCPKit

/// What an action gave, as the result of a tool.
struct ToolAnswer: Sendable {
    let redactor: Redactor
    /// The largest text of a result.
    let limit: ByteCount

    /// The result of an action that has ended.
    ///
    /// - Throws: `ServeFailure` if it is too large.
    func result(_ value: any OutputValue, _ output: ToolOutput) throws(ServeFailure) -> MCPResult {
        let structured: JSON? = if value is Nothing { .none } else { redactor.redact(value.json) }
        let text = output.text ?? structured.map { $0.string ?? $0.text() } ?? ""
        guard text.utf8.count <= limit.bytes else {
            throw ServeFailure(
                .tooLarge,
                "the result has \(ByteCount(text.utf8.count).words), and serve.result-limit is \(limit.words); ask for less, "
                    + "or raise the limit",
                exit: .failed)
        }
        let parts = (text.isEmpty ? [] : [ToolPart.text(text)]) + output.pictures.map { .media($0) }
        return MCPResult(
            parts.isEmpty ? [.text("done")] : parts, structured: structured, isError: value.exit != .done)
    }

    /// The result of an action that has failed: what happened and what to do next, and the code.
    func failure(_ error: any Error) -> MCPResult {
        let failure: any Failure =
            if case .unanswered(let id, let prompt)? = error as? InteractionError {
                // A host has no terminal, so that the usual advice would not help.
                ServeFailure(
                    .notForHosts,
                    "'\(prompt)' (\(id)) is not answered by this host; do it yourself, or let the host decide with 'mcp "
                        + "serve --allow approves', which gives it no secret",
                    exit: .unanswered)
            } else {
                AnyFailure(error)
            }
        let report = redactor.redact(failure.report)
        return MCPResult(
            [.text("\(redactor.redact(failure.message)) [\(failure.code)]")], structured: report, isError: true)
    }
}
