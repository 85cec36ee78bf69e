import Capabilities
import ChatHistory
import ChatProviders
import FileKit
import JSON
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

    /// Whether one of these folders is this one.
    func isAmong(_ folders: [PathValue]) -> Bool { folders.contains { isMeant(by: $0.text) } }

    /// Whether a path leads here.
    func isMeant(by path: String) -> Bool {
        do throws(FileError) { return try Files.canonical(path) == self.path } catch { return false }
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

extension ToolFolder {
    /// A folder as a conversation remembers it: by its path, and by which folder was there then.
    struct Known: Sendable, Hashable {
        let path: String
        /// Nil in conversations from before it was kept.
        let identity: String?
    }

    static func known(_ context: ActionContext) -> Known {
        let path = context.host.locations.current
        do throws(FileError) {
            let info = try Files.info(path)
            return Known(path: path, identity: "\(info.device):\(info.inode)")
        } catch {
            // One that cannot be looked at is told when it is opened.
            return Known(path: path, identity: nil)
        }
    }
}

extension ToolFolder.Known {
    init?(json: JSON) {
        guard let path = json[ConversationSetup.folderOption]?.string else { return nil }
        self.init(path: path, identity: json[ConversationSetup.folderIdentityOption]?.string)
    }

    func store(in object: inout JSONObject) {
        object[ConversationSetup.folderOption] = .string(path)
        object[ConversationSetup.folderIdentityOption] = identity.map { .string($0) }
    }

    /// Whether the folder that is there now is the one that was meant.
    func isSame(as now: ToolFolder.Known) -> Bool {
        path == now.path && (identity == nil || identity == now.identity)
    }
}

extension ToolMode {
    /// Whether who has agreed to this one has agreed to the other one too.
    func includes(_ other: ToolMode) -> Bool {
        let order: [ToolMode] = [.readOnly, .workspace, .full]
        return (order.firstIndex(of: other) ?? order.count) <= (order.firstIndex(of: self) ?? -1)
    }

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
