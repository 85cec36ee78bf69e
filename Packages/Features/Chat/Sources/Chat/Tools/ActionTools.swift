import Capabilities
import JSON
import Registry

/// Martlet's own actions as tools: those that change nothing, and finish by themselves.
final class ActionTools: ToolSource {
    private let context: ActionContext

    init(context: ActionContext) {
        self.context = context
    }

    var name: String { "martlet" }

    private var actions: [Action] {
        context.registry.actions.all.filter { action in
            // A secret is not for a model's eyes, and talking to models is what is being done already.
            action.effect == .reads && !action.isHidden && !action.isStreaming && !action.id.hasPrefix("chat.")
                && !action.id.hasPrefix("auth.secret.") && !action.id.hasPrefix("completion")
                && !action.parameters.contains { $0.form == .secret }
        }
    }

    func tools() async throws -> [ToolDescription] {
        actions.map { action in
            ToolDescription(
                name: action.id, summary: action.summary, input: .object(action.inputSchema), effect: action.effect)
        }
    }

    func run(_ call: ToolCall) async throws -> ToolResult {
        guard let action = actions.first(where: { $0.id == call.name }) else {
            return ToolResult(call: call.id, content: "there is no tool \(call.name)", isError: true)
        }
        do {
            // Nobody is asked on behalf of a model that only looks.
            let quiet = ActionContext(
                registry: context.registry, host: context.host, interaction: HeadlessInteraction(), output: Silence())
            let value = try await context.registry.perform(action, call.input.object ?? [:], in: quiet)
            return ToolResult(call: call.id, content: context.host.redactor.redact(value.json).text())
        } catch let error where !(error is CancellationError) {
            let message = context.host.redactor.redact(AnyFailure(error).message)
            return ToolResult(call: call.id, content: message, isError: true)
        }
    }
}

/// What a tool says besides its result is for nobody.
private struct Silence: ActionOutput {
    func event(_ event: ActionEvent) async throws {}
    func progress(_ progress: Progress) {}
    func notice(_ text: String) {}
}
