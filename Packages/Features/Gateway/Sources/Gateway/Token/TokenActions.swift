import Capabilities
import GatewayStore
import HTTPServer
import JSON
import LoopKit
import Registry

/// `martlet gateway token`: what clients have to show.
struct TokenActions {
    let services: GatewayServices

    init(_ services: GatewayServices) {
        self.services = services
    }

    var all: [Action] { [show, list, create, revoke] }

    // MARK: The owner's

    // It writes, as it makes the token when there is none; and no model that may only read gets to see it.
    private var show: Action {
        Action(
            "gateway.token.show", "Print the owner's token", .writes,
            .flag("new", "Make another one, with which the old one ends")
        ) { context, isNew in
            guard isNew else { return try await services.token.current(context).token.withText { $0 } }
            let token = try await services.token.renewed(context).token
            try await tell(token, context)
            return token.withText { $0 }
        }
        .byName()
        .asDefault()
        .details(
            "The token is made when it is first wanted and kept in the vault; in a build without one, in a file that only you "
                + "can read. \(GatewayToken.variable) goes before both. It chats, reads and approves; rules and projects are "
                + "changed on the command line, or with a token of the scope admin. A gateway that runs takes a new one at "
                + "once, and refuses the old one."
        )
        .example("martlet gateway token", "For another program's settings")
    }

    /// Shows the new token to the gateway that runs, so that the old one ends now.
    private func tell(_ token: Secret, _ context: ActionContext) async throws {
        let loop = EventLoop()
        defer { loop.stop() }
        guard let (state, _) = try Instance(services.surroundings).running(loop: loop) else { return }
        let problem: String
        do {
            if try await HealthProbe(services: services).isAccepted(token, by: state) { return }
            problem = "it does not take it"
        } catch let failure as any Failure {
            problem = failure.message
        }
        context.notice("the gateway that runs was not told of the new token (\(problem)); start it again")
    }

    // MARK: Those of single clients

    private var list: Action {
        Action("gateway.token.list", "List the tokens of single clients", .reads) { context in
            let now = context.host.now()
            let today = Day(now)
            let used = try await services.store.usage(by: .client, UsageFilter(from: today, through: today))
            return context.rows(
                try await services.store.clients().map { client in
                    ClientRow(client: client, now: now, used: used.first { $0.key == client.name })
                },
                orSay: "there are no client tokens yet; 'martlet gateway token create NAME' makes one")
        }
    }

    /// A shorter one could be guessed.
    private static let leastLength = 32
    private static let longestName = 64

    /// Names stand in refusals, lists and the audit, where each has to mean one client.
    private static func check(name: String) throws {
        let isPlain = PlainText.escape(name) == name && !name.contains(where: \.isNewline)
        let isCut = name.first?.isWhitespace != false || name.last?.isWhitespace != false
        guard isPlain, !isCut, name.utf8.count <= longestName, name != ClientTokens.owner.name else {
            throw ServingError(
                .settings,
                "a token needs a name of 1 to \(longestName) bytes without control characters or blanks at its ends, and"
                    + " not 'owner', which is yours")
        }
    }

    private func check(_ given: Secret, _ context: ActionContext) async throws {
        let own = try await services.token.known(context.registry)?.token
        guard own?.withText({ own in given.withText { $0 == own } }) != true else {
            throw ServingError(.settings, "that is your own token, which may do more; leave --token-stdin away")
        }
        let (length, isPlain) = given.withText { text in
            (text.utf8.count, text.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        }
        guard length >= Self.leastLength, isPlain else {
            throw ServingError(
                .settings,
                "a token needs \(Self.leastLength) characters at least, or it could be guessed, all of them ASCII and none"
                    + " a blank, or no header could carry it")
        }
    }

    private var create: Action {
        Action(
            "gateway.token.create", "Make a token for one client, and print it this once", .writes,
            taking: TokenArguments.self
        ) { context, arguments in
            let now = context.host.now()
            if let lifetime = arguments.lifetime, lifetime <= .zero {
                throw ServingError(.settings, "--expires needs a time that is more than nothing")
            }
            try Self.check(name: arguments.name)
            if let given = arguments.token { try await check(given, context) }
            let token = try arguments.token ?? ClientTokens.make()
            services.surroundings.redactor.learn(token)
            let client = arguments.client(from: now)
            try await services.store.addClient(client, digest: ClientTokens.digest(of: token))
            if arguments.token == nil { context.notice("copy the token now: it cannot be shown again") }
            return CreatedToken(client: client, token: token)
        }
        .byName()
        .details(
            "chat asks models and runs turns, whose models read the project's files and what was said; read looks at projects, "
                + "sessions, files and usage; approve answers what a model has to ask for, and writes files; admin changes "
                + "projects and their rules. Give --scope once for each: a console for approvals needs read and approve. What "
                + "the client has taken in a day is counted by its name, and a request over the budget is refused until the "
                + "next day (UTC). A gateway that runs takes the token at once."
        )
        .example("martlet gateway token create ci --scope chat --expires 90d --rate 60", "For a build server")
        .example("martlet gateway token create nightly --day-tokens 200000 --day-cost 2.5", "With a budget a day")
        .example("martlet gateway token create console --scope read --scope approve", "For who watches the others")
    }

    private var revoke: Action {
        Action(
            "gateway.token.revoke", "End the token of a client", .destroys,
            .argument("name", "Its name", as: String.self)
        ) { context, name in
            try await services.store.removeClient(named: name)
            return Nothing()
        }
        .byName()
        .losing { arguments, _ in
            let name = arguments["name"]?.string ?? ""
            guard let client = try await services.store.clients().first(where: { $0.name == name }) else { return nil }
            let last = client.used.map { ", used last at \($0.iso8601)" } ?? ", never used"
            return "End the token \(PlainText.escape(name))\(last); what runs for it ends, too"
        }
    }
}

/// A client's token in a list.
struct ClientRow: Record {
    let client: GatewayClient
    let now: Timestamp
    /// What it has taken today; nil for nothing.
    let used: UsageSum?

    /// Whether the token is still taken.
    enum State: String, Choice { case valid, ended }

    static let fields: [Field<ClientRow>] = [
        Field("name", "What it is called", .name) { $0.client.name },
        Field("state", "Whether it is taken", .state) { row in
            row.client.expires.map { $0 <= row.now } == true ? State.ended : .valid
        },
        Field("scopes", "What it may do") { $0.client.scopeNames },
        Field("created", "When it was made", .minor) { $0.client.created },
        Field("expires", "When it ends") { $0.client.expires },
        Field("used", "When it was shown last, to the minute") { $0.client.used },
        Field("rate", "How many requests it may make in a minute") { $0.client.rate },
        Field("day_tokens", "How many tokens it may take in a day") { $0.client.budget.tokens },
        Field("tokens_today", "How many it has taken today, by UTC") { $0.used?.tokens },
        Field("day_cost_usd", "What it may cost in a day, in US dollars") { $0.client.budget.cost },
        Field("cost_today_usd", "What is known of its cost today, in US dollars") { $0.used?.usage.cost },
    ]
}

/// A token that was just made.
struct CreatedToken: Record {
    let client: GatewayClient
    let token: Secret

    static let fields: [Field<CreatedToken>] = [
        Field("name", "What it is called", .name) { $0.client.name },
        Field("token", "The token itself") { $0.token.withText { $0 } },
        Field("scopes", "What it may do") { $0.client.scopeNames },
        Field("expires", "When it ends") { $0.client.expires },
        Field("rate", "How many requests it may make in a minute") { $0.client.rate },
        Field("day_tokens", "How many tokens it may take in a day") { $0.client.budget.tokens },
        Field("day_cost_usd", "What it may cost in a day, in US dollars") { $0.client.budget.cost },
    ]
}

extension GatewayClient {
    fileprivate var scopeNames: [String] { ClientScope.allCases.filter(scopes.contains).map(\.rawValue) }
}

/// What `gateway.token.create` takes.
struct TokenArguments: ActionArguments {
    private(set) var name = ""
    private var scopes: [ClientScope] = []
    private(set) var lifetime: Duration?
    private var (rate, tokens): (Int?, Int?)
    private var cost: Double?
    private(set) var token: Secret?

    static let bindings = [
        bind(\.name, .argument("name", "What you want to call it")),
        bind(\.scopes, .option("scope", "What it may do: chat and read when absent")),
        bind(\.lifetime, .option("expires", "After how long it ends; never when absent")),
        bind(
            \.rate,
            .option("rate", "How many requests it may make in a minute; any number when absent", in: 1...1_000_000)),
        bind(
            \.tokens,
            .option("day-tokens", "How many tokens it may take in a day; any number when absent", in: 0...Int.max)),
        bind(
            \.cost,
            .option(
                "day-cost", "What it may cost in a day, in US dollars; anything when absent",
                in: 0...GatewaySettings.largestCost)),
        bind(\.token, .secret("token", "A token of yours instead of a new one")),
    ]

    init() {}

    func client(from now: Timestamp) -> GatewayClient {
        GatewayClient(
            name: name, scopes: scopes.isEmpty ? [.chat, .read] : Set(scopes), created: now,
            expires: lifetime.map { now + $0 }, rate: rate,
            budget: BudgetLimit(tokens: tokens, cost: cost.map(Cost.init(dollars:))))
    }
}
