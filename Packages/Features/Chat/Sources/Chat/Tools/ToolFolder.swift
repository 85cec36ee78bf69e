import Capabilities
import ChatProviders
import FileKit
import Registry
import TurnLoop

/// The folder that a model works in: the one in which the command runs.
struct ToolFolder {
    let path: String
    private let home: String?

    init(_ context: ActionContext) {
        let current = context.host.locations.current
        // One that cannot be looked at is told when it is opened.
        do throws(FileError) { path = try Files.canonical(current) } catch { path = current }
        home = Files.home(in: context.host.environment)
    }

    /// Whether the person has agreed to work there.
    func isKnown(_ folders: [PathValue]) -> Bool {
        folders.contains { folder in
            do throws(FileError) {
                return try Files.canonical(folder.text) == path
            } catch {
                return false
            }
        }
    }

    /// Refuses a home: what lies there decides what other programs run.
    func check(_ mode: ToolMode?) throws(ChatError) {
        guard let mode, mode != .readOnly else { return }
        let holds = home.map { AbsolutePath($0).lies(beneath: AbsolutePath(path)) } ?? false
        guard holds || AbsolutePath(path).names.isEmpty else { return }
        throw ChatError(
            .toolFolder, "models write nothing in \(PlainText.escape(path)): it is or holds your home",
            remedy: "go to the folder of a project first")
    }
}

extension ToolMode {
    var explanation: String {
        switch self {
        case .readOnly: "they look around"
        case .workspace: "they edit files in it"
        case .full: "they edit files in it and run commands in a sandbox"
        }
    }
}

extension ToolMode? {
    /// What holds from now on.
    var words: String {
        switch self {
        case nil: "no tools"
        case .readOnly?: "read-only: the model may look around; it asks for all else"
        case .workspace?: "workspace: the model edits files in this folder; it asks for commands and all else"
        case .full?: "full: the model edits files in this folder and runs commands in a sandbox; it asks for all else"
        }
    }
}
