import Capabilities
import ChatHistory
import Registry

/// What was used.
struct UsageActions {
    let services: ChatServices

    init(_ services: ChatServices) {
        self.services = services
    }

    var all: [Action] { [usage] }

    private var usage: Action {
        Action(
            "chat.usage", "Show what answers took: tokens, and what they cost", .reads,
            .option("by", "What is counted together", default: UsageTotal.Grouping.model),
            .option("model", "Only of this model", as: String?.self),
            .option("provider", "Only of this provider", as: String?.self),
            .option("since", "Only since then", as: Timestamp?.self),
            .option("until", "Only before then", as: Timestamp?.self)
        ) { context, grouping, model, provider, since, until in
            context.rows(
                try await services.history.usage(
                    by: grouping, HistoryFilter(provider: provider, model: model, since: since, until: until)),
                orSay: "no answer is counted here yet")
        }
        .details("What a server does not report is left out and not counted as nothing. Days are those of UTC.")
        .example("martlet chat usage --by day --format csv", "For a spreadsheet")
    }
}
