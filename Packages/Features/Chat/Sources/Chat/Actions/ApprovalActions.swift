import Capabilities
import ChatHistory
import JSON
import Registry
import Settings
import TurnLoop

/// What was decided about tools, and taking it back.
struct ApprovalActions {
    let services: ChatServices

    init(_ services: ChatServices) {
        self.services = services
    }

    var all: [Action] { [approvals, disallow] }

    private static let conversation: Parameter<String?> = .option(
        "conversation", "A conversation: its id, or how that begins or ends", as: String?.self, short: "c")

    private var approvals: Action {
        Action(
            "chat.approvals", "Show what was decided about tools, where that is kept, and for how long it holds",
            .reads,
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
                    ? "nothing was decided about tools"
                    : "nothing was decided about tools for this conversation or project")
        }
        .details(
            "All rules that hold in this folder, whoever asked: those of the settings, of this folder, of the gateway's project "
                + "here, of conversations and of the gateway's sessions. With --conversation, of conversations only that one."
        )
    }

    private var disallow: Action {
        Action(
            "chat.disallow", "Take back what was decided about tools in this folder, in a conversation, or by one rule",
            .writes, .argument("rule", "Only this rule: its id, as 'chat approvals' shows it", as: String?.self),
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
                            ValueError("names no rule, or several; 'chat approvals' shows the ids", at: ["rule"])
                        ])
                }
                context.notice("1 rule was taken back: it was in \(PlainText.escape(removed.place))")
                return Nothing()
            }
            let count: Int
            if let prefix {
                count = try await services.history.removeRules(of: services.history.find(prefix).id)
            } else {
                count = try await remembered.forget()
            }
            context.notice("\(count) rule\(count == 1 ? " was" : "s were") taken back")
            return Nothing()
        }
        .details(
            "Without a rule's id, all of this folder, with how far models may go in it. What holds always is in the settings: "
                + "'config unset chat.approvals' takes all of that back."
        )
        .byName()
        .example("martlet chat disallow 5f0c11aa", "One rule, wherever it is kept")
    }
}

/// A rule as a list shows it.
private struct ApprovalRow: Record {
    let kept: KeptRule
    /// Nil for what is no rule of a tool, or cannot be read any more.
    let rule: ApprovalRule?

    init(_ kept: KeptRule) {
        self.kept = kept
        do throws(ValueError) { rule = try ApprovalRule(json: kept.rule) } catch { rule = nil }
    }

    private var mode: ToolMode? { kept.rule["mode"]?.string.flatMap(ToolMode.init) }
    private var tool: String { PlainText.escape(rule?.tool ?? kept.rule["tool"]?.string ?? "*") }
    private var verdict: String { mode?.rawValue ?? (rule?.verdict ?? .deny).rawValue }
    private var note: String? {
        if mode != nil { return "how far models go where no rule says anything else" }
        guard let rule else { return "it cannot be read any more, and so it denies" }
        return rule.emptiness.map(PlainText.escape)
    }

    static let fields: [Field<ApprovalRow>] = [
        Field("id", "By which it is taken back", .name) { $0.kept.id },
        Field("tool", "Pattern for the tool's name") { $0.tool },
        Field("verdict", "What happens to the calls", .state) { $0.verdict },
        Field("source", "Pattern for who offers it") { $0.rule?.source.map(PlainText.escape) },
        Field("scope", "For how long it holds") { $0.kept.scope },
        Field("arguments", "Patterns for values of the input") { row -> JSON? in
            row.rule.flatMap { $0.arguments.isEmpty ? nil : $0.arguments.json }
        },
        Field("kept", "Where it is kept") { PlainText.escape($0.kept.place) },
        Field("note", "Why it has no effect, or another one") { $0.note },
    ]
}
