import Capabilities
import GatewayStore
import HTTPServer
import JSON
import LoopKit
import Registry

/// `martlet gateway token`: the tokens that clients use.
struct TokenActions {
    let services: GatewayServices

    init(_ services: GatewayServices) {
        self.services = services
    }

    var all: [Action] { [show, list, create, revoke] }

    // MARK: Owner's token

    // Its effect is `writes`, because it creates the token when there is none, and so that models that may only read
    // never see it.
    private var show: Action {
        Action(
            "gateway.token.show", "Print the owner's token", .writes,
            .flag("new", "Replace the token; the old one stops working")
        ) { context, isNew in
            guard isNew else { return try await services.token.current(context).token.withText { $0 } }
            let token = try await services.token.renewed(context).token
            try await tell(token, context)
            return token.withText { $0 }
        }
        .byName()
        .asDefault()
        .details(
            "The token is created on first use and kept in the vault, or in a file that only you can read if the "
                + "build has no vault. \(GatewayToken.variable) overrides both. It has the scopes chat, read and "
                + "approve; rules and projects can be changed only on the command line or with a token that has the scope "
                + "admin. A running gateway accepts a new token at once and refuses the old one."
        )
        .example("martlet gateway token", "Print the token for another program's settings")
    }

    /// Uses the new token on the running gateway, so that the old one stops working now.
    private func tell(_ token: Secret, _ context: ActionContext) async throws {
        let loop = EventLoop()
        defer { loop.stop() }
        guard let (state, _) = try Instance(services.surroundings).running(loop: loop) else { return }
        let problem: String
        do {
            if try await HealthProbe(services: services).isAccepted(token, by: state) { return }
            problem = "the gateway does not accept it"
        } catch let failure as any Failure {
            problem = failure.message
        }
        context.notice("could not pass the new token to the running gateway (\(problem)); restart it")
    }

    // MARK: Client tokens

    private var list: Action {
        Action("gateway.token.list", "List the client tokens", .reads) { context in
            let now = context.host.now()
            let today = Day(now)
            let used = try await services.store.usage(by: .client, UsageFilter(from: today, through: today))
            return context.rows(
                try await services.store.clients().map { client in
                    ClientRow(client: client, now: now, used: used.first { $0.key == client.name })
                },
                orSay: "there are no client tokens yet; create one with 'martlet gateway token create NAME'")
        }
    }

    /// A shorter token could be guessed.
    private static let leastLength = 32
    private static let longestName = 64

    /// Names appear in errors, lists and the audit log, where each must identify one client.
    private static func check(name: String) throws {
        let isPlain = PlainText.escape(name) == name && !name.contains(where: \.isNewline)
        let isCut = name.first?.isWhitespace != false || name.last?.isWhitespace != false
        guard isPlain, !isCut, name.utf8.count <= longestName, name != ClientTokens.owner.name else {
            throw ServingError(
                .settings,
                "invalid token name: it needs 1 to \(longestName) bytes, no control characters, no spaces at its ends, "
                    + "and must not be 'owner', which is reserved for you")
        }
    }

    private func check(_ given: Secret, _ context: ActionContext) async throws {
        let own = try await services.token.known(context.registry)?.token
        guard own?.withText({ own in given.withText { $0 == own } }) != true else {
            throw ServingError(
                .settings, "that is the owner's token, which has more rights; omit --token-stdin to create a new one")
        }
        let (length, isPlain) = given.withText { text in
            (text.utf8.count, text.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        }
        guard length >= Self.leastLength, isPlain else {
            throw ServingError(
                .settings,
                "invalid token: it needs at least \(Self.leastLength) characters so that it cannot be guessed, "
                    + "all printable ASCII without spaces so that it fits in a header")
        }
    }

    private var create: Action {
        Action(
            "gateway.token.create", "Create a token for a client and print it once", .writes,
            taking: TokenArguments.self
        ) { context, arguments in
            let now = context.host.now()
            if let lifetime = arguments.lifetime, lifetime <= .zero {
                throw ServingError(.settings, "invalid --expires: it needs a duration greater than zero")
            }
            try Self.check(name: arguments.name)
            if let given = arguments.token { try await check(given, context) }
            let token = try arguments.token ?? ClientTokens.make()
            context.host.redactor.learn(token)
            let client = arguments.client(from: now)
            try await services.store.addClient(client, digest: ClientTokens.digest(of: token))
            if arguments.token == nil { context.notice("copy the token now: it cannot be shown again") }
            return CreatedToken(client: client, token: token)
        }
        .byName()
        .details(
            "Scopes: chat asks models and runs turns, whose models can read the project's files and the conversation; "
                + "read shows projects, sessions, files and usage; approve answers approval requests and writes files; "
                + "admin changes projects and their rules. Repeat --scope for several: an approval console needs read "
                + "and approve. Daily use is counted by the client's name, and requests over the budget are refused "
                + "until the next day (UTC). A running gateway accepts the token at once."
        )
        .example("martlet gateway token create ci --scope chat --expires 90d --rate 60", "For a build server")
        .example("martlet gateway token create nightly --day-tokens 200000 --day-cost 2.5", "With a daily budget")
        .example("martlet gateway token create console --scope read --scope approve", "For an approval console")
    }

    private var revoke: Action {
        Action(
            "gateway.token.revoke", "Revoke the token of a client", .destroys,
            .argument("name", "Name of the token", as: String.self, completion: GatewayCompletion.clients)
        ) { context, name in
            try await services.store.removeClient(named: name)
            return Nothing()
        }
        .byName()
        .losing { arguments, _ in
            let name = arguments["name"]?.string ?? ""
            guard let client = try await services.store.clients().first(where: { $0.name == name }) else { return nil }
            let last = client.used.map { ", last used at \($0.iso8601)" } ?? ", never used"
            return "Revoke the token \(PlainText.escape(name))\(last); its running requests end too"
        }
    }
}

/// A client's token in a list.
struct ClientRow: Record {
    let client: GatewayClient
    let now: Timestamp
    /// Its usage today; nil for none.
    let used: UsageSum?

    /// Whether the token is still accepted.
    enum State: String, Choice { case valid, ended }

    static let fields: [Field<ClientRow>] = [
        Field("name", "Name of the client", .name) { $0.client.name },
        Field("state", "Whether it is accepted: valid or ended", .state) { row in
            row.client.expires.map { $0 <= row.now } == true ? State.ended : .valid
        },
        Field("scopes", "Allowed scopes") { $0.client.scopeNames },
        Field("created", "Creation time", .minor) { $0.client.created },
        Field("expires", "Expiry time") { $0.client.expires },
        Field("used", "Time of the last use, to the minute") { $0.client.used },
        Field("rate", "Maximum requests a minute") { $0.client.rate },
        Field("day_tokens", "Maximum tokens a day") { $0.client.budget.tokens },
        Field("tokens_today", "Tokens used today (UTC)") { $0.used?.tokens },
        Field("day_cost_usd", "Maximum cost a day in US dollars") { $0.client.budget.cost },
        Field("cost_today_usd", "Known cost today in US dollars") { $0.used?.usage.cost },
    ]
}

/// A token that was just created.
struct CreatedToken: Record {
    let client: GatewayClient
    let token: Secret

    static let fields: [Field<CreatedToken>] = [
        Field("name", "Name of the client", .name) { $0.client.name },
        Field("token", "The token") { $0.token.withText { $0 } },
        Field("scopes", "Allowed scopes") { $0.client.scopeNames },
        Field("expires", "Expiry time") { $0.client.expires },
        Field("rate", "Maximum requests a minute") { $0.client.rate },
        Field("day_tokens", "Maximum tokens a day") { $0.client.budget.tokens },
        Field("day_cost_usd", "Maximum cost a day in US dollars") { $0.client.budget.cost },
    ]
}

extension GatewayClient {
    fileprivate var scopeNames: [String] { ClientScope.allCases.filter(scopes.contains).map(\.rawValue) }
}

/// The arguments of `gateway.token.create`.
struct TokenArguments: ActionArguments {
    private(set) var name = ""
    private var scopes: [ClientScope] = []
    private(set) var lifetime: Duration?
    private var (rate, tokens): (Int?, Int?)
    private var cost: Double?
    private(set) var token: Secret?

    static let bindings = [
        bind(\.name, .argument("name", "Name for the client")),
        bind(\.scopes, .option("scope", "Scope to allow; default: chat and read")),
        bind(\.lifetime, .option("expires", "Time after which it expires; default: never")),
        bind(
            \.rate,
            .option("rate", "Maximum requests a minute; default: no limit", in: 1...1_000_000)),
        bind(
            \.tokens,
            .option("day-tokens", "Maximum tokens a day; default: no limit", in: 0...Int.max)),
        bind(
            \.cost,
            .option(
                "day-cost", "Maximum cost a day in US dollars; default: no limit",
                in: 0...GatewaySettings.largestCost)),
        bind(\.token, .secret("token", "Existing token to use instead of a new one")),
    ]

    init() {}

    func client(from now: Timestamp) -> GatewayClient {
        GatewayClient(
            name: name, scopes: scopes.isEmpty ? [.chat, .read] : Set(scopes), created: now,
            expires: lifetime.map { now + $0 }, rate: rate,
            budget: BudgetLimit(tokens: tokens, cost: cost.map(Cost.init(dollars:))))
    }
}
