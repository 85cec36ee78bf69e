import Capabilities
import FileKit
import Registry
import SandboxKit
import Settings
import ToolKit
import TurnLoop

extension ChatServices {
    /// Everybody's tools, what Martlet itself can do without changing anything, and the files of the folder it runs in.
    func tools(
        _ mode: ToolMode, _ policy: ApprovalPolicy, _ context: ActionContext
    ) throws -> [any ToolSource] {
        let folder = ToolFolder(context).path
        var sources = context.registry.all((any ToolSource).self) + [ActionTools(context: context)]
        if case .deny(let rule, let mend) = context.caller.grant.decide(.path(folder, .tree)) {
            context.notice("the model has no tools for the files where it runs: \(rule); \(mend)")
        } else {
            let denied = policy.deniedPaths(of: WorkspaceTools.name, WorkspaceTools.fileDescriptions)
            let workspace = Workspace(
                try Workspace(folder), denying: denied, home: Files.home(in: surroundings.environment))
            sources.append(
                WorkspaceTools(workspace, offering: mode == .readOnly ? .reading : .all, shell: shell))
        }
        return sources
    }

    /// How commands of models are run.
    var shell: ShellOptions {
        let places = surroundings.locations
        let home = Files.home(in: surroundings.environment)
        return ShellOptions(
            environment: surroundings.environment,
            sandbox: settings[ChatSettings.sandbox].sandbox(
                home: home, showing: settings[ChatSettings.sandboxReads].map(\.text),
                // Keys, tokens and what was said lie there.
                hiding: [places.config, places.data, places.state, places.cache]))
    }

    /// Who has to agree: the settings say it, and rules that hold for this conversation.
    func policy(_ mode: ToolMode, rules: [ApprovalRule], _ context: ActionContext) -> ApprovalPolicy {
        var policy = settings[ChatSettings.policy]
        policy.rules += rules
        policy.mode = mode
        policy.places = PathGlob.Places(
            folder: AbsolutePath(ToolFolder(context).path),
            home: Files.home(in: surroundings.environment).map { AbsolutePath($0) })
        return policy
    }

    /// A turn by the settings.
    func loop(_ sources: [any ToolSource], _ policy: ApprovalPolicy, _ context: ActionContext) -> TurnLoop {
        var loop = TurnLoop(
            sources: sources, policy: policy, clock: surroundings.clock, now: surroundings.now,
            approve: Approver(context: context).approve)
        loop.limits.rounds = settings[ChatSettings.rounds]
        if settings[ChatSettings.toolFormat] == .tagged { loop.formatter = TaggedText() }
        return loop
    }
}
