import Capabilities
import GatewayStore
import ToolKit

extension Project {
    /// The tools that work in its folder.
    func files(_ settings: TurnSettings) throws(GatewayError) -> any ToolSource {
        WorkspaceTools(try folder(), offering: .all, shell: settings.shell)
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
