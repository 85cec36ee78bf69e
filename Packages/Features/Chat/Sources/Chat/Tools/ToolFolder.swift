import Capabilities
import ChatHistory
import ChatProviders
import FileKit
import JSON
import Registry
import Settings
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

/// How far the person lets models go in the folder of the command when the settings say so. It is asked about once, and
/// kept in the folder's record; another folder at the same place is asked about again.
struct AgreedMode {
    let services: ChatServices
    let context: ActionContext

    var folder: ToolFolder { ToolFolder(context) }

    /// The mode of the settings where the person has agreed to it here, or does so now.
    func mode(upTo mode: ToolMode) async throws -> ToolMode {
        if mode == .readOnly { return mode }
        let folders = try context.registry.one((any FolderRules).self)
        let record: FolderRecord
        do { record = try folders.record(of: folder.path) } catch {
            context.notice(
                "what was agreed to for this folder could not be read, so models only look around: "
                    + AnyFailure(error).message)
            return .readOnly
        }
        if record.mode?.includes(mode) == true { return mode }
        // It was one list in the settings before, which says nothing of a folder that has come in its place since.
        if record.mode == nil, !record.isReplaced, folder.isAmong(services.settings[ChatSettings.folders]) {
            return try await moved(mode, to: folders)
        }
        guard context.interaction.canAsk else {
            context.notice(
                "nobody has said yet that models may do more than read here; --mode \(mode.rawValue) lets them")
            return .readOnly
        }
        guard
            try await context.interaction.confirm(
                "chat.mode",
                "Let models work in \(PlainText.escape(folder.path)) as far as your settings say "
                    + "(\(mode.rawValue): \(mode.explanation)), now and later?")
        else { return .readOnly }
        do {
            try await folders.change(folder.path) { $0.mode = mode }
        } catch {
            context.notice("it will be asked about again: \(AnyFailure(error).message)")
        }
        return mode
    }

    /// Moves what the person agreed to from the settings to the folder's record. Written there first, so that a program
    /// which ends in between has lost nothing.
    private func moved(_ mode: ToolMode, to folders: any FolderRules) async throws -> ToolMode {
        do {
            try await folders.change(folder.path) { $0.mode = mode }
            let folder = folder
            try await context.registry.one((any SettingsWriter).self).edit { own in
                let listed = own["chat"]?["folders"]?.array ?? []
                let others = listed.filter { $0.string.map(folder.isMeant) != true }
                return [(["chat", "folders"], others.isEmpty ? nil : .array(others))]
            }
            context.notice(
                "that models may work here (\(mode.rawValue)) is in this folder's record now, and not in chat.folders any more"
            )
        } catch {
            context.notice("what chat.folders says of this folder could not be moved: \(AnyFailure(error).message)")
        }
        return mode
    }
}
