import Capabilities
import JSON
import Registry
import TurnLoop

/// Asks the person about a call that no rule decides.
struct Approver: Sendable {
    let context: ActionContext
    /// Whether a server does the call: it keeps what is remembered, and has no settings of the person.
    var isServer = false

    func approve(_ request: ApprovalRequest) async throws -> ApprovalAnswer {
        // The person has agreed to the bundle that says so; a call of our own is looked at before it comes here.
        if isServer, context.caller.grant.decide(.tool(request.tool, source: request.source)).isAllowed {
            return ApprovalAnswer(isAllowed: true)
        }
        let name = PlainText.escape(request.tool)
        context.notice("The model wants to use \(name):\n\(request.reach.preview(of: request.call))")
        var scopes: [(words: String, scope: ApprovalScope)] = [("Yes, this once", .once)]
        // A server makes rules of its own of it.
        if isServer || request.remembers != nil {
            let what = request.remembers == request.tool ? nil : request.remembers
            let object = what.map { ", '\(PlainText.escape($0))'" } ?? ""
            scopes += [
                ("Yes\(object), in this conversation", .conversation), ("Yes\(object), in this project", .project),
            ]
            if !isServer { scopes.append(("Yes\(object), always", .always)) }
        }
        let index = try await context.interaction.choice(
            "chat.approve", "Allow \(name) (\(request.effect.rawValue)) of \(PlainText.escape(request.source))?",
            among: scopes.map(\.words) + ["No", "No, and say why"])
        if scopes.indices.contains(index) { return ApprovalAnswer(isAllowed: true, scope: scopes[index].scope) }
        guard index > scopes.count else { return ApprovalAnswer(isAllowed: false) }
        let reason = try await context.interaction.text("chat.approve.reason", "What shall the model do instead?")
        return ApprovalAnswer(isAllowed: false, reason: reason)
    }
}
