import Capabilities

// Spans of calls, without what goes into them and what comes out.

/// Records how long a decision about a call was waited for, and which it was.
func traced(
    _ request: ApprovalRequest, _ approve: @escaping TurnLoop.Approve
) async throws -> ApprovalAnswer {
    try await Tracer.current.span("approve \(request.tool)", of: "tools") { span in
        span.set(.genAITool, .string(request.tool))
        let answer = try await approve(request)
        span.set(.decision, answer.isAllowed ? "allowed" : "denied")
        return answer
    }
}

/// Records the run of a call, and who or what has allowed it.
func traced(
    _ call: ToolCall, of source: any ToolSource, _ decision: ApprovalDecision?,
    _ run: () async throws -> ToolResult
) async throws -> ToolResult {
    try await Tracer.current.span("execute_tool \(call.name)", of: "tools") { span in
        span.set(.genAIOperation, "execute_tool")
        span.set(.genAITool, .string(call.name))
        span.set(.genAICall, .string(call.id))
        span.set("martlet.tool.source", .string(source.name))
        span.set(.decision, (decision?.by.word).map(SpanValue.string))
        let result = try await run()
        if result.isError { span.fail("tool_error") }
        return result
    }
}

extension ApprovalDecision.Origin {
    fileprivate var word: String {
        switch self {
        case .rule: "rule"
        case .effect: "effect"
        case .person: "person"
        case .nobody: "nobody"
        }
    }
}
