import Capabilities
import ChatHistory
import FileKit
import JSON
import Registry
import Settings
import StorageKit
import TurnLoop

/// The rules that Chat keeps: those of its settings and of conversations.
final class ChatRules: RuleKeeper {
    private static let settings = "the settings (chat.approvals)"
    private let services: ChatServices

    init(_ services: ChatServices) {
        self.services = services
    }

    func keptRules(in folder: String) async throws -> [KeptRule] {
        var rules = services.settings[ChatSettings.policy].rules.map {
            KeptRule($0.json, in: Self.settings, scope: "always")
        }
        if let mode = services.settings[ChatSettings.mode] {
            rules.insert(KeptRule(["mode": mode.json], in: "the settings (chat.mode)", scope: "always"), at: 0)
        }
        // Looking into a history makes its file, and where there is none, nothing was decided.
        guard Files.exists(services.history.database.path) else { return rules }
        // They go to the folder's record when a model works there next.
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
