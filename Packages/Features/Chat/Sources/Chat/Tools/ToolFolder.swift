import Capabilities
import ChatProviders
import FileKit
import Registry
import TurnLoop

/// The folder that a model works in: the one in which the command runs.
struct ToolFolder {
    let path: String
    /// Empty where there is none.
    private let home: String

    init(_ context: ActionContext) {
        let current = context.host.locations.current
        // One that cannot be looked at is told when it is opened.
        do throws(FileError) { path = try Files.canonical(current) } catch { path = current }
        let home = context.host.environment["HOME"] ?? ""
        // It may be reached by a link.
        do throws(FileError) { self.home = try Files.canonical(home) } catch { self.home = home }
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
        let holds = !home.isEmpty && AbsolutePath(home).lies(beneath: AbsolutePath(path))
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
