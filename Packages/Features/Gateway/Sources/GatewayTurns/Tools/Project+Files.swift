import Capabilities
import GatewayStore
import ToolKit

extension Project {
    /// The tools that work in its folder.
    func files(_ settings: TurnSettings) throws(GatewayError) -> any ToolSource {
        do {
            return WorkspaceTools(try Workspace(path), offering: .all, shell: settings.shell)
        } catch {
            throw GatewayError(
                .folderMissing, "the folder of the project cannot be used: \(error.message)", param: "project_id",
                cause: error)
        }
    }
}
