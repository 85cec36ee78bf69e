import Capabilities
import ChatHistory
import JSON
import Registry
import Settings
import TurnLoop

/// The actions that list and remove the rules for tools.
struct ApprovalActions {
    let services: ChatServices

    init(_ services: ChatServices) {
        self.services = services
    }

    var all: [Action] { [approvals, disallow] }

    private static let conversation: Parameter<String?> = .option(
        "conversation", "A conversation: its id, or the beginning or end of it", as: String?.self, short: "c",
        completion: ChatCompletion.conversations)

    private var approvals: Action {
        Action(
            "chat.approvals", "List the rules for tools, with where each is stored and how long it applies", .reads,
            Self.conversation
        ) { context, prefix in
            let found: Conversation? = if let prefix { try await services.history.find(prefix) } else { nil }
            let folders = RememberedRules(history: services.history, context: context).folders
            let rules = try await context.registry.all((any RuleKeeper).self).keptRules(in: folders).filter { rule in
                rule.scope != "conversation" || found.map { rule.owner == $0.id.rawValue } ?? true
            }
            return context.rows(
                rules.map(ApprovalRow.init),
                orSay: found == nil
                    ? "there are no rules for tools"
                    : "there are no rules for tools in this conversation or project")
        }
        .details(
            "Lists all rules that apply in this folder: those of the settings, of this folder, of the gateway's project "
                + "here, of conversations and of the gateway's sessions. --conversation leaves out other conversations."
        )
    }

    private var disallow: Action {
        Action(
            "chat.disallow", "Remove the rules for tools of this folder or of a conversation, or a single rule",
            .writes,
            .argument("rule", "Only this rule: its id, as shown by 'chat approvals'", as: String?.self),
            Self.conversation
        ) { context, rule, prefix in
            let remembered = RememberedRules(history: services.history, context: context)
            if let rule {
                let removed = try await context.registry.all((any RuleKeeper).self)
                    .remove(ruleNamed: rule, in: remembered.folders)
                guard let removed else {
                    throw ArgumentsFailure(
                        action: "chat.disallow",
                        problems: [
                            ValueError("matches no rule, or several; 'chat approvals' shows the ids", at: ["rule"])
                        ])
                }
                context.notice("1 rule was removed from \(PlainText.escape(removed.place))")
                return Nothing()
            }
            let count: Int
            if let prefix {
                count = try await services.history.removeRules(of: services.history.find(prefix).id)
            } else {
                count = try await remembered.forget()
            }
            context.notice("\(count) rule\(count == 1 ? " was" : "s were") removed")
            return Nothing()
        }
        .details(
            "Without a rule id, removes all rules of this folder and its approved mode; with --conversation, those of that "
                + "conversation instead. Rules that always apply are in the settings: 'config unset chat.approvals' removes all of them."
        )
        .byName()
        .example("martlet chat disallow 5f0c11aa", "One rule, wherever it is stored")
    }
}

/// A rule as a row of the list.
private struct ApprovalRow: Record {
    let kept: KeptRule
    /// Nil if this is not a rule for a tool, or cannot be read.
    let rule: ApprovalRule?

    init(_ kept: KeptRule) {
        self.kept = kept
        do throws(ValueError) { rule = try ApprovalRule(json: kept.rule) } catch { rule = nil }
    }

    private var mode: ToolMode? { kept.rule["mode"]?.string.flatMap(ToolMode.init) }
    private var tool: String { PlainText.escape(rule?.tool ?? kept.rule["tool"]?.string ?? "*") }
    private var verdict: String { mode?.rawValue ?? (rule?.verdict ?? .deny).rawValue }
    private var note: String? {
        if mode != nil { return "the mode, which applies where no rule does" }
        guard let rule else { return "it cannot be read, so it denies" }
        return rule.emptiness.map(PlainText.escape)
    }

    static let fields: [Field<ApprovalRow>] = [
        Field("id", "Id of the rule", .name) { $0.kept.id },
        Field("tool", "Pattern for the tool's name") { $0.tool },
        Field("verdict", "What happens to matching calls", .state) { $0.verdict },
        Field("source", "Pattern for the tool's source") { $0.rule?.source.map(PlainText.escape) },
        Field("scope", "How long it applies") { $0.kept.scope },
        Field("arguments", "Patterns for input values") { row -> JSON? in
            row.rule.flatMap { $0.arguments.isEmpty ? nil : $0.arguments.json }
        },
        Field("kept", "Where it is stored") { PlainText.escape($0.kept.place) },
        Field("note", "Why it has no effect, or a different one") { $0.note },
    ]
}
