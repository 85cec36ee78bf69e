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
            "chat.approvals", "Show what was decided about tools, and for how long that holds", .reads,
            Self.conversation
        ) { context, prefix in
            let remembered = RememberedRules(history: services.history, context: context)
            let found: Conversation? = if let prefix { try await services.history.find(prefix) } else { nil }
            let rules = services.settings[ChatSettings.policy].rules + (await remembered.rules(of: found))
            return context.rows(
                rules.map(ApprovalRow.init),
                orSay: found == nil
                    ? "nothing was decided about tools for this project; --conversation shows what holds in one"
                    : "nothing was decided about tools for this conversation or project")
        }
    }

    private var disallow: Action {
        Action(
            "chat.disallow", "Take back what was decided about tools in this project, or in a conversation", .writes,
            Self.conversation
        ) { context, prefix in
            let history = services.history
            let count: Int
            if let prefix {
                count = try await history.removeRules(of: history.find(prefix).id)
            } else {
                count = try await history.removeRules(
                    ofProject: RememberedRules(history: history, context: context).project)
            }
            context.notice("\(count) rule\(count == 1 ? " was" : "s were") taken back")
            return Nothing()
        }
        .details("What holds always is in the settings: 'config unset chat.approvals' takes all of that back.")
        .byName()
    }
}

/// A rule as a list shows it.
private struct ApprovalRow: Record {
    let rule: ApprovalRule

    static let fields: [Field<ApprovalRow>] = [
        Field("tool", "Pattern for the tool's name", .name) { PlainText.escape($0.rule.tool) },
        Field("verdict", "What happens to the calls", .state) { $0.rule.verdict },
        Field("source", "Pattern for who offers it") { $0.rule.source.map(PlainText.escape) },
        Field("scope", "For how long it holds") { $0.rule.scope },
        Field("arguments", "Patterns for values of the input") { row -> JSON? in
            row.rule.arguments.isEmpty ? nil : row.rule.arguments.json
        },
        Field("note", "Why it has no effect") { $0.rule.emptiness.map(PlainText.escape) },
    ]
}
