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
            "chat.usage", "Show what answers took: tokens, and what they cost", .reads, taking: UsageArguments.self
        ) { context, arguments in
            context.rows(
                try await services.history.usage(by: arguments.grouping, arguments.filter),
                orSay: "no answer is counted here yet")
        }
        .details("What a server does not report is left out and not counted as nothing. Days are those of UTC.")
        .example("martlet chat usage --by day --format csv", "For a spreadsheet")
    }
}

/// What `chat.usage` takes.
struct UsageArguments: ActionArguments {
    private(set) var grouping = UsageTotal.Grouping.model
    private(set) var filter = HistoryFilter()

    static let bindings = [
        bind(\.grouping, .option("by", "What is counted together", default: .model)),
        bind(\.filter.model, .option("model", "Only of this model")),
        bind(\.filter.provider, .option("provider", "Only of this provider")),
        bind(\.filter.since, .option("since", "Only since then")),
        bind(\.filter.until, .option("until", "Only before then")),
    ]

    init() {}
}
