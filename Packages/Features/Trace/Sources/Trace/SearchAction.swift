import Capabilities
import JSON
import Registry
import TraceKit
import TraceStore

/// `martlet trace search`
struct SearchAction: Sendable {
    let store: TraceStore
    /// The spans of this process that are not written yet.
    let spool: SpanSpool

    /// The spans that are looked at one by one, if the database cannot decide.
    private static let mostLookedAt = 100_000

    var action: Action {
        Action(
            "trace.search", "Find spans for which an expression holds, newest first", .reads,
            taking: SpanSearchArguments.self
        ) { [store, spool] context, arguments in
            spool.flush()
            let expression = try SpanExpression(parsing: arguments.expression, now: context.host.now())
            let found = try await Self.search(
                expression, arguments.narrowing(expression.filter), limit: arguments.limit, in: store)
            for notice in found.notices { context.notice(notice) }
            return context.rows(found.spans.map(SpanRow.init), orSay: "nothing was recorded that matches")
        }
        .details(
            "The language is that of conditions in bundles: == != < <= > >= in, && || !, contains(), starts_with() and others. Names: "
                + "name, service (the program), feature (or library), kind (such as client), status ('ok' or 'error'), "
                + "error (its code, or null), duration (seconds, or '250ms'), start (a time, or '2h' ago), trace and span (whole ids), "
                + "tool, model, attributes, and text (the name and the values of all attributes). "
                + "Comparisons of name, service, feature, status, error, duration, start and trace that && joins at the top are "
                + "fastest; for the rest at most 100,000 spans are looked at. A value that a span does not have "
                + "makes a comparison false. Times without an offset are in UTC."
        )
        .example("martlet trace search 'duration > 2 && error != null'", "What took long and failed")
        .example(
            "martlet trace search \"tool == 'bash.run' && start > '2h'\"", "Calls of a tool in the last two hours"
        )
        .example(
            "martlet trace search 'attributes[\"http.response.status_code\"] >= 500'",
            "Requests that a server failed at")
    }

    /// The spans that were found, and what there is to say about them.
    struct Found: Sendable {
        fileprivate(set) var spans: [FoundSpan] = []
        fileprivate(set) var notices: [String] = []
        private var count = 0
        private var last: Timestamp?
        /// Spans for which the expression was decided.
        private var decided = 0
        /// Spans for which it has no value, and why the first one has none.
        private var undefined: (count: Int, problem: TraceError)?

        fileprivate mutating func add(_ span: FoundSpan, _ verdict: SpanExpression.Verdict) {
            count += 1
            last = span.began
            switch verdict {
            case .decided(let holds):
                decided += 1
                if holds { spans.append(span.withoutLine()) }
            case .undefined(let problem): undefined = ((undefined?.count ?? 0) + 1, undefined?.problem ?? problem)
            }
        }

        /// - Throws: why the expression has no value for any span.
        fileprivate mutating func end(_ wanted: Int, _ mostLookedAt: Int) throws(TraceError) {
            if spans.count == wanted {
                notices.append(
                    "these are the newest \(wanted); --limit shows more, and --until goes on with older ones")
            } else if count == mostLookedAt, let last {
                notices.append(
                    "\(count) spans were looked at, and none before \(last.iso8601); --since, --service, or comparisons such as "
                        + "duration > 1 that && joins at the top leave fewer to look at, and --until goes on with older ones"
                )
            }
            guard let undefined else { return }
            // A mistake, not a span that is unlike the others.
            if decided == 0 { throw undefined.problem }
            notices.append("\(undefined.count) spans were left out: \(undefined.problem.message)")
        }
    }

    /// - Parameter mostLookedAt: how many spans that the filter lets through are looked at.
    static func search(
        _ expression: SpanExpression, _ filter: SpanFilter, limit wanted: Int, in store: TraceStore,
        mostLookedAt: Int = mostLookedAt
    ) async throws -> Found {
        var found = try await store.forEachSpan(
            filter, limit: mostLookedAt, hasLines: expression.needsLines, Found()
        ) { found, span in
            found.add(span, try expression.verdict(on: span))
            return found.spans.count < wanted
        }
        try found.end(wanted, mostLookedAt)
        return found
    }
}

/// The arguments of `trace.search`.
struct SpanSearchArguments: ActionArguments {
    private(set) var expression = ""
    private var since: Timestamp?
    private var until: Timestamp?
    private var service: String?
    private var hasFailed = false
    private var longer: Duration?
    private(set) var limit = 50

    static let bindings = [
        bind(\.expression, .argument("expression", "What holds for the spans, such as duration > 2")),
        bind(\.since, .option("since", "Only spans that began since this time")),
        bind(\.until, .option("until", "Only spans that began before this time")),
        bind(\.service, .option("service", "Only spans of this program")),
        bind(\.hasFailed, .flag("failed", "Only spans that failed")),
        bind(\.longer, .option("longer", "Only spans that took at least this long")),
        bind(\.limit, .option("limit", "Maximum number of results", in: 1...1000, default: 50)),
    ]

    init() {}

    /// A filter with what the options ask for as well.
    func narrowing(_ filter: SpanFilter) -> SpanFilter {
        var filter = filter
        if let since { filter.require(.began, .atLeast, since) }
        if let until { filter.require(.began, .less, until) }
        if let service { filter.require(.service, .equal, service) }
        if hasFailed { filter.require(.failure, .unequal, String?.none) }
        if let longer { filter.require(.duration, .atLeast, longer.wholeNanoseconds) }
        return filter
    }
}

/// A span that was found.
struct SpanRow: Record {
    let found: FoundSpan

    init(_ found: FoundSpan) { self.found = found }

    static let fields: [Field<SpanRow>] = [
        Field("id", "Id of its trace", .name) { String(Hexadecimal.encode($0.found.trace).prefix(12)) },
        Field("span", "Its id") { Hexadecimal.encode($0.found.id) },
        Field("time", "When it began") { $0.found.began },
        Field("service", "Program that did it", .minor) { PlainText.escape($0.found.service, limit: 100) },
        Field("feature", "Feature that did it", .minor) { PlainText.escape($0.found.feature, limit: 100) },
        Field("name", "Name of the span") { PlainText.escape($0.found.name, limit: 200) },
        Field("duration", "How long it took") { $0.found.duration },
        Field("state", "ok, or the code of the error", .state) { PlainText.escape($0.found.failure ?? "ok") },
        Field("trace", "Whole id of its trace", .detail) { Hexadecimal.encode($0.found.trace) },
    ]
}
