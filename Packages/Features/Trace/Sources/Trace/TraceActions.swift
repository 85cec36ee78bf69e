import Capabilities
import FileKit
import JSON
import Registry
import TraceKit
import TraceStore

/// The actions on traces. Models see none of them.
struct TraceActions {
    let store: TraceStore
    /// The spans of this process that are not written yet.
    let spool: SpanSpool

    init(_ store: TraceStore, _ spool: SpanSpool) {
        self.store = store
        self.spool = spool
    }

    var all: [Action] { [list, show, span, stats, export, load, clear] }

    private var list: Action {
        Action("trace.list", "List what was done, newest first", .reads, taking: TraceListArguments.self) {
            [store, spool] context, arguments in
            spool.flush()
            let query = arguments.query
            let (traces, total) = try await store.traces(query)
            let rest = total - query.offset - traces.count
            if rest > 0, !traces.isEmpty {
                context.notice("\(rest) more; '--page \(arguments.page + 1)' shows the next")
            }
            let lost = try await store.lost(since: query.since)
            if lost > 0 {
                context.notice("\(lost) spans were left out, because there were too many at once (trace.rate)")
            }
            let why =
                spool.sampling == nil
                ? "nothing is recorded, because trace.record is false" : "nothing was recorded that matches"
            return context.rows(traces.map(TraceRow.init), orSay: why)
        }
        .asDefault()
        .details(
            "Each command, request and turn is a trace: its spans are the actions, requests, answers of models and calls of tools "
                + "in it, with their times. What was said is not recorded."
        )
        .example("martlet trace list --failed --since 2026-11-01", "What failed since a day")
        .example("martlet trace list --longer 2s --text chat", "What took long and asked a model")
    }

    private static let id: Parameter<String> = .argument("id", "Id of the trace, or its beginning")

    private var show: Action {
        Action("trace.show", "Show the spans of a trace, each below the one around it", .reads, Self.id) {
            [store, spool] context, id in
            spool.flush()
            let trace = try await store.trace(beginning: id)
            return Waterfall(try await store.spans(of: trace)).rows
        }
        .example("martlet trace show 4bf92f", "By the beginning of its id")
    }

    private var span: Action {
        Action(
            "trace.span", "Show a span with everything that is known of it", .reads, Self.id,
            .argument("span", "Id of the span, or its beginning")
        ) { [store, spool] context, id, word in
            spool.flush()
            let trace = try await store.trace(beginning: id)
            let found = try await store.spans(of: trace).filter {
                $0.span.context.span.description.hasPrefix(word.lowercased())
            }
            guard let first = found.first else { throw TraceError.unknown(word) }
            guard found.count == 1 else { throw TraceError.ambiguous(word) }
            return SpanDetail(stored: first)
        }
    }

    private var stats: Action {
        Action(
            "trace.stats", "Show how long each kind of work takes, and how often it fails", .reads,
            taking: TracePeriod.self
        ) {
            [store, spool] context, period in
            spool.flush()
            var figures = SpanFigures()
            try await store.forEachTime(period.query) { figures.add($0, $1, hasFailed: $2) }
            return context.rows(figures.rows, orSay: "nothing was recorded that matches")
        }
        .example("martlet trace stats --since 2026-11-01", "Since a day")
    }

    private var export: Action {
        Action("trace.export", "Print traces for other programs", .reads, taking: TraceExportArguments.self) {
            [store, spool] context, arguments in
            spool.flush()
            var query = arguments.query
            var ids: [String] = []
            for id in arguments.ids { ids.append(try await store.trace(beginning: id)) }
            query.ids = ids
            let writer = SpanText(arguments.format)
            try await store.forEachSpan(query) { writer.add($0) }
            return try await deliver(writer.text, to: arguments.output, context)
        }
        .details(
            "ndjson has a span a line, which 'trace import' reads, and the README of the kit TraceKit describes."
        )
        .example("martlet trace export --failed --output failed.ndjson", "What failed, into a file")
    }

    private func deliver(_ text: String, to file: WritePath?, _ context: ActionContext) async throws -> String {
        guard let file else { return text }
        let path = try context.path(file)
        try path.write(Array(text.utf8))
        return "\(PlainText.escape(path.absolute)) has the traces"
    }

    private var load: Action {
        Action(
            "trace.import", "Add the traces of a file that 'trace export' has written", .writes,
            .argument("file", "File with a span a line", as: ReadPath.self)
        ) { [store] context, file in
            let path = try context.path(file)
            let (added, unreadable) = try await store.add(linesOf: path.open())
            guard added > 0 || unreadable == 0 else { throw TraceError.noSpans(path.absolute) }
            if unreadable > 0 { context.notice("\(unreadable) lines were left out, because they are no spans") }
            return "\(added) spans were added"
        }
    }

    private var clear: Action {
        Action(
            "trace.clear", "Remove traces", .destroys,
            .option("before", "Only those that began before this time", as: Timestamp?.self)
        ) { [store, spool] _, time in
            spool.flush()
            return "\(try await store.clear(before: time)) traces were removed"
        }
        .losing { arguments, _ in
            arguments["before"].flatMap { $0.string }.map { "All traces before \($0) are removed" }
                ?? "All traces are removed"
        }
        .byName()
    }
}
