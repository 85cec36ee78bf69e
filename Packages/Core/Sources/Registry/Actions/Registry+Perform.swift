public import Capabilities
public import JSON

extension Registry {
    /// Does an action: the one way in for every surface.
    ///
    /// What destroys asks first, unless the person has agreed beforehand; everything is a span.
    /// - Throws: `ArgumentsFailure`, `InteractionError`, or what the action itself throws.
    public func perform(
        _ action: Action, _ arguments: JSONObject, in context: ActionContext, isAgreed: Bool = false
    ) async throws -> any OutputValue {
        let problems = action.problems(in: arguments)
        guard problems.isEmpty else { throw ArgumentsFailure(action: action.id, problems: problems) }
        return try await ActionContext.$current.withValue(context) {
            if action.effect == .destroys, !isAgreed,
                let question = try await action.question(before: arguments, in: context)
            {
                let id = action.agreementID
                guard try await context.interaction.confirm(id, question) else {
                    throw InteractionError.declined(id: id)
                }
            }
            return try await context.tracer.span(action.id, feature: actions.owner(of: action) ?? "") {
                try await action.perform(arguments, in: context)
            }
        }
    }
}
