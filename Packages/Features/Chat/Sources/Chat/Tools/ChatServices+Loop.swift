import Capabilities
import Registry
import Settings
import ToolKit
import TurnLoop

extension ChatServices {
    /// Everybody's tools, what Martlet itself can do without changing anything, and the files of the folder it runs in.
    func tools(_ context: ActionContext) throws -> [any ToolSource] {
        let folder = context.host.locations.current
        var sources = context.registry.all((any ToolSource).self) + [ActionTools(context: context)]
        if case .deny(let rule, let mend) = context.caller.grant.decide(.path(folder, .tree)) {
            context.notice("the model has no tools for the files where it runs: \(rule); \(mend)")
        } else {
            sources.append(WorkspaceTools(try Workspace(folder)))
        }
        return sources
    }

    /// A turn by the settings, with rules that hold for this conversation beside them.
    func loop(
        _ sources: [any ToolSource], rules: [ApprovalRule] = [], _ context: ActionContext
    ) -> TurnLoop {
        var policy = settings[ChatSettings.policy]
        policy.rules += rules
        var loop = TurnLoop(
            sources: sources, policy: policy, clock: surroundings.clock, now: surroundings.now,
            approve: Approver(context: context).approve)
        loop.limits.rounds = settings[ChatSettings.rounds]
        if settings[ChatSettings.toolFormat] == .tagged { loop.formatter = TaggedText() }
        return loop
    }
}
