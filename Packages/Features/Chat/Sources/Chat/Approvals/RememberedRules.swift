import Capabilities
import ChatHistory
import FileKit
import JSON
import Registry
import Settings
import TurnLoop

/// What the person has decided about tools for longer than once, and where it is kept: with the conversation, in the
/// folder's record, or in the settings.
struct RememberedRules: Sendable {
    let history: History
    let context: ActionContext

    /// The folder that a project is known by: that of its settings, or else the one that the command runs in.
    var project: String {
        let current = context.host.locations.current
        guard let file = context.host.locations.project else { return current }
        let parts = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        return parts.count > 1 ? parts.joined(separator: "/") : current
    }

    /// The folders whose records hold here: the project's, and the one that models work in, where that is another.
    var folders: [String] {
        let (project, own) = (project, ToolFolder(context))
        return own.isMeant(by: project) ? [project] : [project, own.path]
    }

    /// What holds in a conversation besides the settings. What cannot be read any more denies, since it may have been a
    /// denial.
    func rules(of conversation: Conversation?) async -> [ApprovalRule] {
        let own = (conversation?.setup.rules ?? []).map { json in
            ApprovalRule.remembered(json, .conversation) {
                context.notice("\($0); 'martlet chat disallow --conversation ID' takes it back")
            }
        }
        do {
            let approvals = FolderApprovals(try context.registry.one((any FolderRules).self))
            try await adopt()
            return own + folders.flatMap { approvals.rules(in: $0, telling: context.notice) }
        } catch {
            context.notice(
                "what was decided in this folder could not be read, so no tool is used: \(AnyFailure(error).message)")
            return own + [ApprovalRule(.deny, scope: .project)]
        }
    }

    /// Moves what was decided in the project from the history to the folder's record.
    private func adopt() async throws {
        let old = try await history.rules(ofProject: project)
        guard !old.isEmpty else { return }
        try await FolderApprovals(context.registry.one((any FolderRules).self))
            .adopt(old, in: project, telling: context.notice)
        try await history.removeRules(old, ofProject: project)
    }

    func remember(_ rule: ApprovalRule, of conversation: ConversationID?) async throws {
        switch rule.scope {
        case .once: break
        case .conversation: if let conversation { try await history.add(rule.json, to: conversation) }
        case .project:
            try await FolderApprovals(context.registry.one((any FolderRules).self)).remember(rule, in: project)
        case .always:
            let key = ["chat", "approvals"]
            // Added to what the person has there: a rule of a project is not theirs, and holds nowhere else.
            try await context.registry.one((any SettingsWriter).self).edit { own in
                [(key, .array((own["chat"]?["approvals"]?.array ?? []) + [rule.json]))]
            }
        }
    }

    /// Takes back all that was decided in the project's folder, and tells how much that was.
    func forget() async throws -> Int {
        try await adopt()
        let folders = try context.registry.one((any FolderRules).self)
        let before = try folders.record(of: project)
        try await folders.change(project) { record in (record.mode, record.rules) = (nil, []) }
        return before.rules.count + (before.mode == nil ? 0 : 1)
    }
}
