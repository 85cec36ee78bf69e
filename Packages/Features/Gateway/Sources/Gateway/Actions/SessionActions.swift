import Capabilities
import GatewayStore
import Registry

/// Actions on the gateway's sessions and their usage.
struct SessionActions {
    let services: GatewayServices

    init(_ services: GatewayServices) {
        self.services = services
    }

    var all: [Action] { [list, usage] }

    private var list: Action {
        Action(
            "gateway.session.list", "List the sessions, most recently used first", .reads,
            .option(
                "project", "Only sessions of this project, by its id or name", as: String?.self,
                completion: GatewayCompletion.projects),
            .option("limit", "Maximum number of results", in: 1...100, default: 20)
        ) { context, project, limit in
            var id: String?
            if let project { id = try await services.store.project(named: project).id }
            return context.rows(
                try await services.store.sessions(project: id, page: PageRequest(size: limit)).items
                    .map(ListedSession.init),
                orSay: id == nil
                    ? "there are no sessions yet; clients of the gateway start them"
                    : "there are no sessions in this project yet")
        }
        .asDefault()
        .showingConversations()
    }

    private var usage: Action {
        Action(
            "gateway.usage", "Show tokens and cost of models used through the gateway", .reads,
            taking: UsageArguments.self
        ) { context, arguments in
            if let session = arguments.session { try await requireKnown(session) }
            let filter = UsageFilter(
                session: arguments.session, project: try await id(of: arguments.project), client: arguments.client,
                from: arguments.since.map { Day($0) })
            return context.rows(
                try await services.store.usage(by: arguments.group, filter).map(UsageRow.init),
                orSay: "there is no usage yet that matches these options")
        }
        .example("martlet gateway usage --by model --format csv", "Export as a table")
    }

    /// Resolves the id or name of a project to its id. A deleted project still has usage under its id.
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

    /// Throws unless the session exists or has usage. A deleted session still has usage.
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
        Field("id", "Id of the session", .name) { $0.session.id },
        Field("title", "Title of the session") { PlainText.escape($0.session.title) },
        Field("project", "Project in which it works") { $0.session.project },
        Field("model", "Model that answers") { $0.session.model },
        Field("running", "Whether a turn is running") { $0.session.isRunning },
        Field("messages", "Number of messages") { $0.session.messages },
        Field("tokens", "Tokens used so far") { $0.session.usage.tokens },
        Field("cost_usd", "Cost so far in US dollars") { $0.session.usage.usage.cost },
        Field("updated", "Time of the last use") { $0.session.updated },
    ]
}

/// The usage of one group, such as a day or a model.
struct UsageRow: Record {
    private let sum: UsageSum

    init(_ sum: UsageSum) {
        self.sum = sum
    }

    static let fields: [Field<UsageRow>] = [
        Field("key", "What this row sums up", .name) { $0.sum.key ?? "none" },
        Field("answers", "Number of answers") { $0.sum.answers },
        Field("input_tokens", "Tokens read by models") { $0.sum.usage.inputTokens },
        Field("output_tokens", "Tokens written by models") { $0.sum.usage.outputTokens },
        Field("cost_usd", "Known cost in US dollars") { $0.sum.usage.cost },
        Field("answers_without_price", "Answers not included in the cost, because their price is unknown") {
            $0.sum.unpriced > 0 ? $0.sum.unpriced : nil
        },
    ]
}

/// The arguments of `gateway.usage`.
struct UsageArguments: ActionArguments {
    private(set) var group = UsageGroup.day
    private(set) var (project, session, client): (String?, String?, String?)
    private(set) var since: Timestamp?

    static let bindings = [
        bind(\.group, .option("by", "What to group by", default: .day)),
        bind(
            \.project,
            .option(
                "project", "Only usage in this project, by its id or name", completion: GatewayCompletion.projects)),
        bind(\.session, .option("session", "Only usage in this session", completion: GatewayCompletion.sessions)),
        bind(
            \.client,
            .option(
                "client", "Only usage of this client, by the name of its token; 'owner' is you",
                completion: GatewayCompletion.users)),
        bind(\.since, .option("since", "Only usage since this day")),
    ]

    init() {}
}
