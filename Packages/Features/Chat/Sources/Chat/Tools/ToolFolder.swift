import Capabilities
import ChatHistory
import ChatProviders
import FileKit
import JSON
import Registry
import TurnLoop

/// The folder in which a model works: the current folder of the command.
struct ToolFolder {
    let path: String
    private let home: String?

    init(_ context: ActionContext) {
        let current = context.host.locations.current
        // A folder that cannot be read is reported when it is opened.
        do throws(FileError) { path = try Files.canonical(current) } catch { path = current }
        home = Files.home(in: context.host.environment)
    }

    /// Whether this folder is in the list.
    func isAmong(_ folders: [PathValue]) -> Bool { folders.contains { isMeant(by: $0.text) } }

    /// Whether a path leads to this folder.
    func isMeant(by path: String) -> Bool {
        do throws(FileError) { return try Files.canonical(path) == self.path } catch { return false }
    }

    /// Refuses a home folder, because its files decide what other programs run.
    ///
    /// - Parameter what: what is refused there.
    func check(_ mode: ToolMode?, refusing what: String = "models may not write") throws(ChatError) {
        guard let mode, mode != .readOnly else { return }
        let holds = home.map { AbsolutePath($0).lies(beneath: AbsolutePath(path)) } ?? false
        guard holds || AbsolutePath(path).names.isEmpty else { return }
        throw ChatError(
            .toolFolder, "\(what) in \(PlainText.escape(path)): it is or contains your home folder",
            remedy: "change to the folder of a project first")
    }
}

extension ToolFolder {
    /// A folder as a conversation remembers it: its path, and the identity of the folder at that time.
    struct Known: Sendable, Hashable {
        let path: String
        /// Nil in conversations from before it was stored.
        let identity: String?
    }

    static func known(_ context: ActionContext) -> Known {
        let path = context.host.locations.current
        do throws(FileError) {
            let info = try Files.info(path)
            return Known(path: path, identity: "\(info.device):\(info.inode)")
        } catch {
            // A folder that cannot be read is reported when it is opened.
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

    /// Whether the current folder is the remembered one.
    func isSame(as now: ToolFolder.Known) -> Bool {
        path == now.path && (identity == nil || identity == now.identity)
    }
}

extension ToolMode {
    /// Whether approval of this mode includes approval of the other one.
    func includes(_ other: ToolMode) -> Bool {
        let order: [ToolMode] = [.readOnly, .workspace, .full]
        return (order.firstIndex(of: other) ?? order.count) <= (order.firstIndex(of: self) ?? -1)
    }

    var explanation: String {
        switch self {
        case .readOnly: "they only read"
        case .workspace: "they edit files in it"
        case .full: "they edit files in it and run commands in a sandbox"
        }
    }
}

extension ToolMode? {
    /// The mode in words.
    var words: String {
        switch self {
        case nil: "no tools"
        case .readOnly?: "read-only: the model may read; it asks before anything else"
        case .workspace?: "workspace: the model edits files here; it asks before commands and anything else"
        case .full?: "full: the model edits files here and runs commands in a sandbox; it asks before anything else"
        }
    }
}

/// The mode that the user approves for a folder when the settings ask for one. It is asked once and stored in the
/// folder's record. Another folder at the same place is asked about again.
struct AgreedMode {
    let services: ChatServices
    let context: ActionContext

    var folder: ToolFolder { ToolFolder(context) }

    /// The mode of the settings, if the user has approved it here or approves it now.
    func mode(upTo mode: ToolMode) async throws -> ToolMode {
        if mode == .readOnly { return mode }
        let folders = try context.registry.one((any FolderRules).self)
        let record: FolderRecord
        do { record = try folders.record(of: folder.path) } catch {
            context.notice(
                "the approved mode of this folder could not be read, so models may only read: "
                    + AnyFailure(error).message)
            return .readOnly
        }
        if record.mode?.includes(mode) == true { return mode }
        // Earlier versions stored one list in the settings. It does not apply to a folder that has replaced the old
        // one.
        if record.mode == nil, !record.isReplaced, folder.isAmong(services.settings.folders) {
            return try await moved(mode, to: folders)
        }
        guard context.interaction.canAsk else {
            context.notice(
                "models may only read here, since more has not been approved yet; --mode \(mode.rawValue) allows more")
            return .readOnly
        }
        guard
            try await context.interaction.confirm(
                "chat.mode",
                "Let models work in \(PlainText.escape(folder.path)) with the mode of your settings "
                    + "(\(mode.rawValue): \(mode.explanation)), now and in the future?")
        else { return .readOnly }
        do {
            try await folders.change(folder.path) { $0.mode = mode }
        } catch {
            context.notice("this could not be saved, so you will be asked again: \(AnyFailure(error).message)")
        }
        return mode
    }

    /// Moves an approval from the settings to the folder's record. The record is written first, so that nothing is lost
    /// if the program ends in between.
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
                "the approved mode (\(mode.rawValue)) was moved from chat.folders to this folder's record")
        } catch {
            context.notice("this folder's entry in chat.folders could not be moved: \(AnyFailure(error).message)")
        }
        return mode
    }
}
