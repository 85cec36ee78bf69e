import Capabilities
import GatewayStore
import Registry

/// The sessions of the gateway, and what they have taken.
struct SessionActions {
    let services: GatewayServices

    init(_ services: GatewayServices) {
        self.services = services
    }

    var all: [Action] { [list, usage] }

    private var list: Action {
        Action(
            "gateway.session.list", "List the sessions, those that were used last first", .reads,
            .option("project", "Only those of this project, by its id or name", as: String?.self),
            .option("limit", "At most so many", in: 1...100, default: 20)
        ) { context, project, limit in
            var id: String?
            if let project { id = try await services.store.project(named: project).id }
            return context.rows(
                try await services.store.sessions(project: id, page: PageRequest(size: limit)).items
                    .map(ListedSession.init),
                orSay: id == nil
                    ? "no session yet; clients of the gateway begin them" : "no session yet in this project")
        }
        .asDefault()
    }

    private var usage: Action {
        Action(
            "gateway.usage", "Show what models have taken through the gateway", .reads, taking: UsageArguments.self
        ) { context, arguments in
            if let session = arguments.session { try await requireKnown(session) }
            let filter = UsageFilter(
                session: arguments.session, project: try await id(of: arguments.project), client: arguments.client,
                from: arguments.since.map { Day($0) })
            return context.rows(
                try await services.store.usage(by: arguments.group, filter).map(UsageRow.init),
                orSay: "no answer went through the gateway yet, as far as was asked for")
        }
        .example("martlet gateway usage --by model --format csv", "For a table")
    }

    /// The id of a project that is named by it or by its name. One that was removed has a usage still, by its id.
    private func id(of project: String?) async throws -> String? {
        guard let project else { return nil }
        do {
            return try await services.store.project(named: project).id
        } catch let error as GatewayStoreError where error.kind == .notFound {
            guard try await services.store.usage(by: .project, UsageFilter(project: project)).isEmpty else {
                return project
            }
            throw error
        }
    }

    /// A session that was removed has a usage still.
    private func requireKnown(_ session: String) async throws {
        guard try await services.store.session(session) == nil,
            try await services.store.usage(by: .project, UsageFilter(session: session)).isEmpty
        else { return }
        throw GatewayStoreError.noSession(session)
    }
}

/// A session in a list.
struct ListedSession: Record {
    let session: Session

    init(_ session: Session) {
        self.session = session
    }

    static let fields: [Field<ListedSession>] = [
        Field("id", "What it is called by", .name) { $0.session.id },
        Field("title", "What it is about") { PlainText.escape($0.session.title) },
        Field("project", "Where it works") { $0.session.project },
        Field("model", "Who answers") { $0.session.model },
        Field("running", "Whether something is being done") { $0.session.isRunning },
        Field("messages", "How many messages it has") { $0.session.messages },
        Field("tokens", "How many tokens it has taken") { $0.session.usage.tokens },
        Field("cost_usd", "What it has cost in US dollars") { $0.session.usage.usage.cost },
        Field("updated", "When it was used last") { $0.session.updated },
    ]
}

/// What was taken together.
struct UsageRow: Record {
    let sum: UsageSum

    init(_ sum: UsageSum) {
        self.sum = sum
    }

    static let fields: [Field<UsageRow>] = [
        Field("key", "What it is the sum of", .name) { $0.sum.key ?? "none" },
        Field("answers", "How many answers there were") { $0.sum.answers },
        Field("input_tokens", "Tokens read by models") { $0.sum.usage.inputTokens },
        Field("output_tokens", "Tokens written by models") { $0.sum.usage.outputTokens },
        Field("cost_usd", "What is known of the cost in US dollars") { $0.sum.usage.cost },
        Field("answers_without_price", "How many answers are not in the cost, because their price is not known") {
            $0.sum.unpriced > 0 ? $0.sum.unpriced : nil
        },
    ]
}

/// What `gateway.usage` takes.
struct UsageArguments: ActionArguments {
    private(set) var group = UsageGroup.day
    private(set) var (project, session, client): (String?, String?, String?)
    private(set) var since: Timestamp?

    static let bindings = [
        bind(\.group, .option("by", "One line for each", default: .day)),
        bind(\.project, .option("project", "Only in this project, by its id or name")),
        bind(\.session, .option("session", "Only in this session")),
        bind(\.client, .option("client", "Only for this client, by the name of its token; 'owner' is you")),
        bind(\.since, .option("since", "Only since that day")),
    ]

    init() {}
}
