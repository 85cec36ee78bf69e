import Capabilities
import ChatHistory
import JSON
import Registry
import Settings
import TurnLoop

/// What the person has decided about tools for longer than once, and where it is kept: with the conversation, with the
/// project, or in the settings.
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

    /// What holds in a conversation besides the settings. What cannot be read any more denies, since it may have been a
    /// denial.
    func rules(of conversation: Conversation?) async -> [ApprovalRule] {
        let own = conversation?.setup.rules ?? []
        let others: [JSON]
        do { others = try await history.rules(ofProject: project) } catch {
            context.notice(
                "what was decided in this project could not be read, so no tool is used: \(AnyFailure(error).message)")
            return [ApprovalRule(.deny, scope: .project)]
        }
        return read(own, .conversation) + read(others, .project)
    }

    /// - Parameter scope: that of the place where the rules were kept, whatever they say themselves.
    private func read(_ rules: [JSON], _ scope: ApprovalScope) -> [ApprovalRule] {
        rules.map { json in
            do throws(ValueError) {
                var rule = try ApprovalRule(json: json)
                rule.scope = scope
                return rule
            } catch {
                let tool = json["tool"]?.string
                let what = tool.map { "'\(PlainText.escape($0))' is" } ?? "all tools are"
                let option = scope == .conversation ? " --conversation ID" : ""
                context.notice(
                    "\(what) denied, as a rule that was remembered for this \(scope.rawValue) cannot be read (it"
                        + " \(error.message)); 'martlet chat disallow\(option)' takes it back")
                return ApprovalRule(.deny, tool: tool ?? "*", scope: scope)
            }
        }
    }

    func remember(_ rule: ApprovalRule, of conversation: ConversationID?) async throws {
        switch rule.scope {
        case .once: break
        case .conversation: if let conversation { try await history.add(rule.json, to: conversation) }
        case .project: try await history.add(rule.json, toProject: project)
        case .always:
            let key = ["chat", "approvals"]
            // Added to what the person has there: a rule of a project is not theirs, and holds nowhere else.
            try await context.registry.one((any SettingsWriter).self).edit { own in
                [(key, .array((own["chat"]?["approvals"]?.array ?? []) + [rule.json]))]
            }
        }
    }
}
