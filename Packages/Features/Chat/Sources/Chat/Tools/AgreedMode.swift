import Capabilities
import JSON
import Registry
import Settings

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
