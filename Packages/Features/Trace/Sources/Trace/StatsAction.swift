import Capabilities
import Registry
import TraceStore

/// `martlet trace stats`
struct StatsAction: Sendable {
    let store: TraceStore
    /// The spans of this process that are not written yet.
    let spool: SpanSpool

    var action: Action {
        Action(
            "trace.stats", "Show how long each kind of work takes, how often it fails and what it uses", .reads,
            taking: TraceStatsArguments.self
        ) { [store, spool] context, arguments in
            spool.flush()
            let rows =
                arguments.selectsTraces
                ? try await store.figures(arguments.figures, ofSpansIn: arguments.query)
                : try await store.figures(arguments.figures)
            return context.rows(FigureRow.sorted(rows), orSay: "nothing was recorded that matches")
        }
        .details(
            "Figures are kept longer than spans: by minute for two days, by hour for forty days and by day for a year. "
                + "With --text, --failed or --longer they come from the spans that are still there. "
                + "Of more than 2,000 kinds of work in a day, and 500 of other programs, the rest is counted as _other."
        )
        .example("martlet trace stats --since 2026-11-01", "Since a day")
        .example("martlet trace stats --since 2026-11-26 --by hour", "By the hour")
    }
}

/// The arguments of `trace.stats`.
struct TraceStatsArguments: TraceSelection {
    var query = TraceQuery()
    fileprivate private(set) var figures = FigureQuery()

    static let bindings =
        [
            bind(\.figures.since, .option("since", "Only work that began since this time, to the minute")),
            bind(\.figures.until, .option("until", "Only work that began before this time, to the minute")),
            bind(\.figures.service, .option("service", "Only work of this program")),
            bind(\.figures.width, .option("by", "Apart for each of these periods", as: FigureWidth?.self)),
        ] + content

    init() {}

    /// Whether the figures are of some traces only, which nobody has counted apart.
    fileprivate var selectsTraces: Bool { query.text != nil || query.hasFailed || query.longer != nil }
}
