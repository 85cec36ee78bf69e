import Capabilities
import GatewayStore
import ToolKit
import TurnLoop

extension Project {
    /// The tools that work in its folder, where rules let them.
    func files(_ settings: TurnSettings, _ policy: ApprovalPolicy) throws(GatewayError) -> any ToolSource {
        WorkspaceTools(try workspace(settings, policy), offering: .all, shell: settings.shell)
    }

    /// Its folder, with what rules keep from tools.
    func workspace(_ settings: TurnSettings, _ policy: ApprovalPolicy) throws(GatewayError) -> Workspace {
        let denied = policy.deniedPaths(of: WorkspaceTools.name, WorkspaceTools.fileDescriptions)
        return Workspace(try folder(), denying: denied, home: settings.home)
    }

    /// Its folder, as long as it is the one that was agreed to.
    func folder() throws(GatewayError) -> Workspace {
        do {
            return try Workspace(canonical: path)
        } catch {
            throw GatewayError(
                .folderMissing, "the folder of the project cannot be used: \(error.message)", param: "project_id",
                cause: error)
        }
    }
}
