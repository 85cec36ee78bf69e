import Capabilities
import ChatHistory
import Registry

/// The action that shows the usage.
struct UsageActions {
    let services: ChatServices

    init(_ services: ChatServices) {
        self.services = services
    }

    var all: [Action] { [usage] }

    private var usage: Action {
        Action(
            "chat.usage", "Show the tokens and the cost of answers", .reads, taking: UsageArguments.self
        ) { context, arguments in
            context.rows(
                try await services.history.usage(by: arguments.grouping, arguments.filter),
                orSay: "no answers were counted yet")
        }
        .details("Values that a server does not report are left out, not counted as zero. Days are in UTC.")
        .example("martlet chat usage --by day --format csv", "For a spreadsheet")
    }
}

/// The arguments of `chat.usage`.
struct UsageArguments: ActionArguments {
    private(set) var grouping = UsageTotal.Grouping.model
    private(set) var filter = HistoryFilter()

    static let bindings = [
        bind(\.grouping, .option("by", "How to group the answers", default: .model)),
        bind(\.filter.model, .option("model", "Only answers of this model", completion: ChatCompletion.usedModels)),
        bind(
            \.filter.provider,
            .option("provider", "Only answers of this provider", completion: ChatCompletion.usedProviders)),
        bind(\.filter.since, .option("since", "Only answers since this time")),
        bind(\.filter.until, .option("until", "Only answers before this time")),
    ]

    init() {}
}
