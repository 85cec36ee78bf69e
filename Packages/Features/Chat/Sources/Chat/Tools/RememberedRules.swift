import Capabilities
import ChatHistory
import FileKit
import JSON
import Registry
import StorageKit
import TurnLoop

/// The lasting rules of the user for tools. They are stored with the conversation, in the folder's record, or in the
/// settings.
struct RememberedRules: Sendable {
    let history: History
    let context: ActionContext

    /// The folder that identifies the project: that of its settings, or else the current one.
    var project: String {
        let current = context.host.locations.current
        guard let file = context.host.locations.project else { return current }
        let parts = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
        return parts.count > 1 ? parts.joined(separator: "/") : current
    }

    /// The folders whose records apply here: the project's, and the current one if it differs.
    var folders: [String] {
        let (project, own) = (project, ToolFolder(context))
        return own.isMeant(by: project) ? [project] : [project, own.path]
    }

    /// The rules that apply in a conversation besides the settings. An unreadable rule denies, because it may have been
    /// a denial.
    func rules(of conversation: Conversation?) async -> [ApprovalRule] {
        let own = (conversation?.setup.rules ?? []).map { json in
            ApprovalRule.remembered(json, .conversation) {
                context.notice("\($0); 'martlet chat disallow --conversation ID' removes it")
            }
        }
        do {
            let approvals = FolderApprovals(try context.registry.one((any FolderRules).self))
            try await adopt()
            return own + folders.flatMap { approvals.rules(in: $0, telling: context.notice) }
        } catch {
            context.notice(
                "the rules of this folder could not be read, so no tool is used: \(AnyFailure(error).message)")
            return own + [ApprovalRule(.deny, scope: .project)]
        }
    }

    /// Moves the rules of the project from the history to the folder's record.
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
            // The rule is added to the user's own settings. The rules of a project are not copied, because they only
            // apply there.
            try await context.registry.one((any SettingsWriter).self).edit { own in
                [(key, .array((own["chat"]?["approvals"]?.array ?? []) + [rule.json]))]
            }
        }
    }

    /// Removes all rules of the project's folder and returns their number.
    func forget() async throws -> Int {
        try await adopt()
        let folders = try context.registry.one((any FolderRules).self)
        let before = try folders.record(of: project)
        try await folders.change(project) { record in (record.mode, record.rules) = (nil, []) }
        return before.rules.count + (before.mode == nil ? 0 : 1)
    }
}

/// The rules that Chat stores: in its settings and with conversations.
final class ChatRules: RuleKeeper {
    private static let settings = "the settings (chat.approvals)"
    private let services: ChatServices

    init(_ services: ChatServices) {
        self.services = services
    }

    func keptRules(in folder: String) async throws -> [KeptRule] {
        var rules = services.settings.policy.rules.map {
            KeptRule($0.json, in: Self.settings, scope: "always")
        }
        if let mode = services.settings.mode {
            rules.insert(KeptRule(["mode": mode.json], in: "the settings (chat.mode)", scope: "always"), at: 0)
        }
        // Opening the history would create its file, and without a file there are no rules.
        guard Files.exists(services.history.database.path) else { return rules }
        // These rules move to the folder's record when a model next works there.
        rules += try await services.history.rules(ofProject: folder).map {
            KeptRule($0, in: "the history, for \(folder)", scope: "project", owner: folder)
        }
        for (id, own) in try await services.history.allRules() {
            rules += own.map {
                KeptRule($0, in: "the conversation \(id.tag)", scope: "conversation", owner: id.rawValue)
            }
        }
        return rules
    }

    func remove(_ rule: KeptRule) async throws {
        switch rule.scope {
        case "always":
            guard let writer = try services.registry?.one((any SettingsWriter).self) else { return }
            if rule.rule["mode"] == nil {
                try await writer.remove(rule, from: ["chat", "approvals"])
            } else {
                try await writer.change([(["chat", "mode"], nil)])
            }
        case "project": try await services.history.removeRules([rule.rule], ofProject: rule.owner)
        default: try await services.history.remove(rule.rule, of: ConversationID(rawValue: rule.owner))
        }
    }
}
