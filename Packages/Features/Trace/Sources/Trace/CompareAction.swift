import Capabilities
import Registry
import TraceStore

/// `martlet trace compare`
struct CompareAction: Sendable {
    let store: TraceStore
    /// The spans of this process that are not written yet.
    let spool: SpanSpool

    var action: Action {
        Action(
            "trace.compare", "Show what changed between two traces, by kind of work", .reads,
            .argument("first", "Id of a trace, or its beginning", as: String.self),
            .argument("second", "Id of the other trace, or its beginning", as: String.self)
        ) { [store, spool] context, first, second in
            spool.flush()
            let before = try await Self.work(of: first, in: store)
            let after = try await Self.work(of: second, in: store)
            context.notice(
                "the first took \(before.duration.roundedWords), the second \(after.duration.roundedWords)")
            return ComparisonRow.rows(before, after)
        }
        .details("The largest change of time is first. What only one of the two did has an empty side.")
        .example("martlet trace compare 4bf92f 81c0d2", "By the beginnings of their ids")
    }

    private static func work(of word: String, in store: TraceStore) async throws -> TraceWork {
        var query = TraceQuery()
        query.ids = [try await store.trace(beginning: word)]
        var work = TraceWork()
        try await store.forEachSpan(query) { work.add($0.span) }
        return work
    }
}
