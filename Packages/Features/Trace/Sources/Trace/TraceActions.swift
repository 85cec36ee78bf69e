import Capabilities
import FileKit
import JSON
import Registry
import TraceExport
import TraceKit
import TraceStore

/// The actions on traces. Models see none of them.
struct TraceActions {
    let store: TraceStore
    /// The spans of this process that are not written yet.
    let spool: SpanSpool
    let delivery: TraceDelivery
    let problems: CollectorProblems

    init(_ store: TraceStore, _ spool: SpanSpool, _ delivery: TraceDelivery, _ problems: CollectorProblems) {
        self.store = store
        self.spool = spool
        self.delivery = delivery
        self.problems = problems
    }

    var all: [Action] {
        [
            list, show, span, SearchAction(store: store, spool: spool).action,
            FlameAction(store: store, spool: spool).action, CompareAction(store: store, spool: spool).action,
            StatsAction(store: store, spool: spool).action, export, load, send, clear,
        ]
    }

    private var list: Action {
        Action("trace.list", "List what was done, newest first", .reads, taking: TraceListArguments.self) {
            [store, spool, problems] context, arguments in
            spool.flush()
            let query = arguments.query
            let (traces, total) = try await store.traces(query)
            if let problem = spool.problem {
                context.notice("what this command does could not be recorded: \(AnyFailure(problem).message)")
            }
            let lost = try await store.lost(since: query.since)
            if lost > 0 {
                context.notice("\(lost) spans were left out, because there were too many at once (trace.rate)")
            }
            for problem in try await problems.sentences(since: query.since) { context.notice(problem) }
            let why =
                spool.sampling == nil
                ? "nothing is recorded, because trace.record is false, or OTEL_SDK_DISABLED is true"
                : "nothing was recorded that matches"
            return context.rows(traces.map(TraceRow.init), of: total, on: query, orSay: why)
        }
        .asDefault()
        .details(
            "Each command, request and turn is a trace: its spans are the actions, requests, answers of models and calls of tools "
                + "in it, with their times. What was said is not recorded."
        )
        .example("martlet trace list --failed --since 2026-11-01", "What failed since a day")
        .example("martlet trace list --longer 2s --text chat", "What took long and asked a model")
        .example("martlet trace list --about message:42", "What the answer with this number in 'chat show --json' took")
    }

    private static let id: Parameter<String> = .argument("id", "Id of the trace, or its beginning")

    /// Nobody reads more.
    private static let mostShown = 20_000

    private var show: Action {
        Action("trace.show", "Show the spans of a trace, each below the one around it", .reads, Self.id) {
            [store, spool] context, id in
            spool.flush()
            let trace = try await store.trace(beginning: id)
            let spans = try await store.spans(of: trace, limit: Self.mostShown)
            if spans.count == Self.mostShown {
                context.notice("only the first \(Self.mostShown) spans are shown; 'trace export \(id)' has all")
            }
            return Waterfall(spans).rows
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
            return SpanDetail(stored: try await store.span(beginning: word, of: trace))
        }
    }

    static let text = EventKind<String>(
        "output", "A piece of the text", [Field("text", "Text to append") { $0 }], text: "text")

    private var export: Action {
        Action("trace.export", "Print traces for other programs", .writes, taking: TraceExportArguments.self) {
            [store, spool] context, arguments in
            spool.flush()
            if arguments.isFollowing { try arguments.checkFollowing() }
            var query = arguments.query
            for id in arguments.ids { query.ids.append(try await store.trace(beginning: id)) }
            var text = SpanText(arguments.form)
            guard let file = arguments.output else {
                // What comes meanwhile may be in both parts, and is never in none.
                let place = arguments.isFollowing ? try await store.end() : nil
                func emit(_ piece: [UInt8]?) async throws {
                    guard let piece, !piece.isEmpty else { return }
                    try await context.emit(Self.text.event(String(decoding: piece, as: UTF8.self)))
                }
                try await store.forEachSpan(query) { span in try await emit(text.add(span)) }
                if let place {
                    try await emit(text.soFar())
                    try await Follower(store, spool).run(in: context, from: place) { news in
                        for span in news.spans { try await emit(text.add(span)) }
                        try await emit(text.soFar())
                    }
                }
                try await emit(text.end())
                return "\(text.count) spans"
            }
            let path = try context.path(file)
            let write = try path.replacement()
            try await store.forEachSpan(query) { span in
                if let piece = text.add(span) { try write.write(piece.span) }
            }
            try write.write(text.end().span)
            try write.commit()
            return "\(PlainText.escape(path.absolute)) has \(text.count) spans"
        }
        .streaming([Self.text.declaration])
        .details(
            "ndjson has a span a line, which 'trace import' reads. otlp is what the file receiver of OpenTelemetry's Collector "
                + "reads, chrome is for Perfetto, csv for tables, and html is a page with a waterfall that needs no network."
        )
        .example("martlet trace export --failed --output failed.ndjson", "What failed, into a file")
        .example("martlet trace export --follow --since today", "The spans of today, and those that come")
        .example("martlet trace export 4bf92f --as html --output trace.html", "One trace as a page")
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

    private var send: Action {
        Action(
            "trace.send", "Send traces to the collector that is set up", .writes, taking: TraceSendArguments.self
        ) { [store, spool, delivery] context, arguments in
            spool.flush()
            // What follows the path may be a secret.
            let server = try delivery.spans.collector().address.prefix { $0 != "?" }
            var query: TraceQuery?
            if !arguments.isWaiting { query = try await arguments.selected(from: store) }
            var (outcome, logs) = (ExportOutcome(), ExportOutcome())
            do {
                try await delivery.send(query) { signal, part in
                    if signal == .logs { logs.add(part) } else { outcome.add(part) }
                    context.progress("sending spans", completed: outcome.count + logs.count)
                }
            } catch let error as TraceExportError where outcome.count > 0 {
                throw TraceExportError(
                    error.kind, "after \(outcome.count) spans: \(error.message)", retryAfter: error.retryAfter,
                    cause: error)
            }
            if outcome.refused > 0, outcome.refused == outcome.count {
                throw TraceExportError(
                    .refused, "all \(outcome.count) spans were refused; \(outcome.message ?? "nothing says why")")
            }
            for (part, things) in [(outcome, OTLPSignal.traces.things), (logs, OTLPSignal.logs.things)] {
                if part.refused > 0 { context.notice("\(part.refused) \(things) were refused") }
                if let message = part.message { context.notice(message) }
            }
            let sent = logs.count == 0 ? "" : " and \(logs.count - logs.refused) \(OTLPSignal.logs.things)"
            return
                "\(outcome.count - outcome.refused) spans\(sent) were sent to \(PlainText.escape(String(server)))"
        }
        .sending()
        .details(
            "Traces are sent by OTLP over HTTP to the collector of trace.endpoint, or else to that of OpenTelemetry's variables. "
                + "New spans, the log and metrics are sent by themselves once a collector is set up; "
                + "this command sends earlier ones, or some again. A collector that is away is tried five times."
        )
        .example("martlet trace send --since 2026-11-01", "Sends the traces since that day")
        .example("martlet trace send --waiting", "Sends what could not be sent so far, the log too")
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

extension TraceSendArguments {
    /// The traces that are asked for.
    fileprivate func selected(from store: TraceStore) async throws -> TraceQuery {
        var query = query
        for id in ids { query.ids.append(try await store.trace(beginning: id)) }
        return query
    }
}

extension ExportOutcome {
    /// Adds what became of others. The first message is the one that is told.
    fileprivate mutating func add(_ other: ExportOutcome) {
        count += other.count
        refused += other.refused
        message = message ?? other.message
    }
}
