import Capabilities
import MCPKit
import MCPServers
import Registry

/// Asks a model on behalf of a server, each time with the person's yes. The model gets no tools, so that it cannot lead back
/// to a server.
struct ModelSampler: Sendable {
    /// The provider and the model, as `provider/model`.
    let model: String
    let whole: WholeRegistry

    @Sendable
    func sample(_ request: MCPSampling, _ server: String, _ caller: Caller) async throws -> (MCPSampled, tokens: Int) {
        let name = PlainText.escape(server).quotedForMessage
        guard let slash = model.firstIndex(of: "/"),
            let provider = whole.registry?.all((any ModelProvider).self).first(where: { $0.id == model[..<slash] })
        else {
            throw ServerError(
                .badEntry, "mcp.sampling-model must name a provider and its model, such as anthropic/claude-sonnet-5")
        }
        let text = request.messages.flatMap(\.parts).map(\.text).joined(separator: "\n")
        let shown = PlainText.escape(text, limit: 600)
        guard
            try await caller.interaction.confirm(
                "mcp.sample",
                "The MCP server \(name) wants to ask \(PlainText.escape(model)), for up to \(request.mostTokens) tokens:\n\(shown)\nAllow that?"
            )
        else { throw MCPError(.refused, "the person does not allow this") }
        var messages: [Message] = request.system.map { [Message(.system, $0)] } ?? []
        messages += request.messages.map { message in
            Message(message.role == .assistant ? .assistant : .user, message.parts.map(\.text).joined(separator: "\n"))
        }
        var question = ChatRequest(model: String(model[model.index(after: slash)...]), messages: messages)
        question.options.maxTokens = request.mostTokens
        let answer = try await provider.answer(question) { _ in }
        let tokens = (answer.usage.inputTokens ?? 0) + (answer.usage.outputTokens ?? 0)
        return (MCPSampled([.text(answer.message.text)], model: question.model), tokens)
    }
}
