import Capabilities
import JSON
import Registry
import TraceStore

/// The actions on requests, of the gateway and to servers.
struct RequestActions: Sendable {
    let store: TraceStore
    /// The spans of this process that are not written yet.
    let spool: SpanSpool

    var all: [Action] { [requests, curl] }

    /// The requests that are looked at one by one.
    static let mostLookedAt = 100_000

    private var requests: Action {
        Action("trace.requests", "List requests by HTTP, newest first", .reads, taking: RequestArguments.self) {
            [store, spool] context, arguments in
            spool.flush()
            let found = try await Self.find(arguments, in: store)
            if found.rows.count == arguments.limit {
                context.notice("these are the newest \(arguments.limit); --limit shows more")
            } else if found.looked == Self.mostLookedAt {
                context.notice("\(found.looked) requests were looked at; --since and --until choose others")
            }
            return context.rows(found.rows.map(RequestRow.init), orSay: "no request was recorded that matches")
        }
        .details(
            "Requests that the gateway and 'mcp serve' took, and those to servers of models, tools and accounts, when they have "
                + "ended. The events of a stream have another row. Of a path only the words are kept; bodies and headers are not recorded."
        )
        .example("martlet trace requests --level warning", "Those that failed or were refused")
        .example("martlet trace requests --scope chat --since today", "What was asked of models today")
    }

    /// What was found among the requests that were looked at.
    struct Found: Sendable {
        fileprivate(set) var rows: [SeenRequest] = []
        fileprivate(set) var looked = 0
    }

    static func find(_ arguments: RequestArguments, in store: TraceStore) async throws -> Found {
        try await store.forEachSpan(arguments.filter, limit: mostLookedAt, hasLines: true, Found()) { found, span in
            let request = SeenRequest(try span.read(), of: span.service)
            found.looked += 1
            if arguments.includes(request) { found.rows.append(request) }
            return found.rows.count < arguments.limit
        }
    }

    private var curl: Action {
        Action(
            "trace.curl", "Print a request as a command of curl", .reads,
            .argument("id", "Id of the trace, or its beginning", as: String.self),
            .argument("span", "Id of the span of the request, or its beginning", as: String.self)
        ) { [store, spool] context, id, word in
            spool.flush()
            let trace = try await store.trace(beginning: id)
            return try CurlCommand(of: try await store.span(beginning: word, of: trace).span).text
        }
        .details(
            "What was not recorded is left for you: $TOKEN is the secret, body.json what was sent, {} a part of the path, and $SERVER "
                + "the address of a server that the request came to."
        )
        .example("martlet trace curl 4bf92f 00f067", "By the beginnings of the ids that 'trace requests --json' has")
    }
}

/// The arguments of `trace.requests`.
struct RequestArguments: ActionArguments {
    private(set) var limit = 50
    private var level = LogLevelWord.debug
    private var scope: String?
    private var service: String?
    private var text: String?
    private var since: Timestamp?
    private var until: Timestamp?
    private var hasOnlyStreams = false

    static let bindings = [
        bind(\.level, .option("level", "Only requests that matter at least so much", default: .debug)),
        bind(\.scope, .option("scope", "Only requests of this feature or library")),
        bind(\.service, .option("service", "Only requests of this program")),
        bind(\.text, .option("text", "Only requests that contain this text")),
        bind(\.since, .option("since", "Only requests since this time")),
        bind(\.until, .option("until", "Only requests before this time")),
        bind(\.limit, .option("limit", "Maximum number of results", in: 1...1000, default: 50)),
    ]

    init() {}

    /// All since a time.
    init(since: Timestamp, hasOnlyStreams: Bool = false) {
        (self.since, self.hasOnlyStreams, limit) = (since, hasOnlyStreams, .max)
    }

    /// What the database decides.
    var filter: SpanFilter {
        var filter = SpanFilter()
        if hasOnlyStreams { filter.require(.name, .equal, "stream") } else { filter.requireRequests() }
        if let scope { filter.require(.feature, .equal, scope) }
        if let service { filter.require(.service, .equal, service) }
        if let since { filter.require(.began, .atLeast, since) }
        if let until { filter.require(.began, .less, until) }
        return filter
    }

    func includes(_ request: SeenRequest) -> Bool {
        guard request.level >= level.level else { return false }
        guard let text = text?.lowercased() else { return true }
        return [request.path, request.server].contains { $0?.lowercased().contains(text) == true }
    }
}
