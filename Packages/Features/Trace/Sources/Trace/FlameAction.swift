import Capabilities
import Registry
import TraceStore

/// `martlet trace flame`
struct FlameAction: Sendable {
    let store: TraceStore
    /// The spans of this process that are not written yet.
    let spool: SpanSpool

    var action: Action {
        Action(
            "trace.flame", "Show where the time of traces went, as a flame graph of lines", .reads,
            taking: TraceFlameArguments.self
        ) { [store, spool] context, arguments in
            spool.flush()
            var query = arguments.query
            if let id = arguments.id { query.ids = [try await store.trace(beginning: id)] }
            var flame = Flame()
            try await store.forEachSpan(query) { flame.add($0.span) }
            let rows = flame.rows()
            if flame.leftOut > 0 {
                context.notice(
                    "\(flame.leftOut) spans are left out, since they are of more than \(Flame.mostFrames) kinds; fewer traces have fewer"
                )
            }
            if flame.traces > 1 { context.notice("of \(flame.traces) traces") }
            return context.rows(rows, orSay: "nothing was recorded that matches")
        }
        .details(
            "What was done in the same work is one line, however often it was done. Its bar is as wide as its time, within the bar "
                + "of the line around it; the longest is first. Work that ran side by side shares the width. "
                + "Without an id it is about all traces that match."
        )
        .example("martlet trace flame 4bf92f", "One trace, by the beginning of its id")
        .example("martlet trace flame --since today --text chat", "All questions of today together")
    }
}

/// The arguments of `trace.flame`.
struct TraceFlameArguments: TraceSelection {
    var query = TraceQuery()
    fileprivate private(set) var id: String?

    static let bindings =
        [bind(\.id, .argument("id", "Id of a trace, or its beginning; all that match if none is given"))]
        + period + content

    init() {}
}
