import Capabilities
import JSON
import Registry
import ToolKit
import TurnLoop

/// The tools that may be used in a folder, by which a rule for a tool that nobody has is found out.
struct ToolNames {
    private let sources: [any ToolSource]
    private let hasClaude: Bool

    init(_ context: ActionContext, folder: String) throws {
        sources = [WorkspaceTools(try Workspace(folder), offering: .all)] + context.registry.all((any ToolSource).self)
        hasClaude = context.host.claude != nil
    }

    /// Throws for a pattern that fits no tool.
    func check(_ rules: [ApprovalRule]) async throws {
        guard !rules.isEmpty else { return }
        var known: [(tool: String, source: String)] = []
        for source in sources {
            // A source that does not answer now may have any.
            do { known += try await source.tools().map { ($0.name, source.name) } } catch { return }
        }
        for rule in rules where !fits(rule, known) {
            throw ServingError(
                .settings,
                "there is no tool \(PlainText.escape(rule.tool).quotedForMessage)"
                    + (Suggestion.nearest(to: rule.tool, among: known.map(\.tool)).map { "; did you mean '\($0)'?" }
                        ?? "; there are \(known.map(\.tool).joined(separator: ", "))"))
        }
    }

    private func fits(_ rule: ApprovalRule, _ known: [(tool: String, source: String)]) -> Bool {
        // Which tools claude has changes with its version; their names are words such as WebFetch, or mcp__server__tool.
        if hasClaude, rule.tool.first?.isUppercase == true, rule.tool.allSatisfy(\.isLetter) { return true }
        if rule.tool.hasPrefix("mcp__") { return true }
        let policy = ApprovalPolicy(rules: [rule])
        return known.contains { tool, source in
            let call = ToolCall(id: "", name: tool, input: [:])
            let request = ApprovalRequest(call: call, tool: tool, source: source, effect: .writes, summary: "")
            return policy.ruling(for: request) != nil
        }
    }
}
