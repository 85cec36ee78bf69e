import Capabilities
import JSON
import Registry

/// The actions of Martlet that may be offered to models, as tools.
final class ActionTools: ToolSource {
    private let context: ActionContext

    init(context: ActionContext) {
        self.context = context
    }

    var name: String { "martlet" }

    private var actions: [Action] {
        context.registry.actions.all.filter {
            let request = GrantRequest.action($0.id, $0.effect, $0.offer)
            return context.caller.grant.narrowed(by: .model).decide(request).isAllowed
        }
    }

    func tools() async throws -> [ToolDescription] {
        actions.map { action in
            ToolDescription(
                name: action.id, summary: action.summary, input: .object(action.inputSchema), effect: action.effect,
                sends: action.sends)
        }
    }

    func run(_ call: ToolCall) async throws -> ToolResult {
        guard let action = actions.first(where: { $0.id == call.name }) else {
            return ToolResult(call: call.id, content: "there is no tool \(call.name)", isError: true)
        }
        do {
            // A model that only reads must not cause questions.
            let value = try await context.perform(
                action, call.input.object ?? [:], narrowedBy: .model, asking: HeadlessInteraction(),
                output: SilentOutput())
            return ToolResult(call: call.id, content: context.host.redactor.redact(value.json).text())
        } catch let error where !(error is CancellationError) {
            let message = context.host.redactor.redact(AnyFailure(error).message)
            return ToolResult(call: call.id, content: message, isError: true)
        }
    }
}
