import Capabilities
import JSON
import Registry
import TraceStore

/// The actions on the log, and on what comes while one watches.
struct LogActions {
    let store: TraceStore
    let spool: SpanSpool

    var all: [Action] { [logs, tail] }

    private var logs: Action {
        Action("trace.logs", "List the entries of the log, newest first", .reads, taking: LogArguments.self) {
            [store, spool] context, arguments in
            spool.flush()
            var query = arguments.query
            if let trace = query.trace { query.trace = try await store.trace(beginning: trace) }
            let (logs, total) = try await store.logs(query)
            return context.rows(
                logs.map(LogRow.init), of: total, on: query, orSay: "the log has no entry that matches")
        }
        .details(
            "Notices and errors of commands, and the log of other programs that send it to 'trace serve'. "
                + "log.file writes it to a file too, with the ends of all spans."
        )
        .example("martlet trace logs --level warning", "What went wrong")
        .example("martlet trace logs --trace 4bf92f", "The entries of one trace")
    }

    private static let entry = EventKind<LogRecord>(
        "entry", "A span that has ended, or an entry of the log",
        [
            Field("time", "When") { $0.time },
            Field("level", "debug, info, warning or error") { $0.level.rawValue },
            Field("scope", "The feature or library") { $0.scope },
            Field("message", "The name of the span, or the text of the entry") { $0.message },
            Field("trace_id", "Id of the trace") { $0.trace?.description },
            Field("span_id", "Id of the span") { $0.span?.description },
            Field("attributes", "Facts about it") { JSON.object($0.attributes) },
        ])

    private var tail: Action {
        Action("trace.tail", "Show spans and entries of the log as they come", .reads, taking: TailArguments.self) {
            [store, spool] context, arguments in
            try await Follower(store, spool).run(in: context, from: try await store.end()) { news in
                let entries =
                    (news.spans.filter(arguments.includes).map { LogRecord($0.span) }
                    + news.logs.filter(arguments.includes).map(\.log)).filter(arguments.includes)
                let events = entries.sorted { $0.time < $1.time }.map { entry in
                    Self.entry.event(entry, text: entry.text() + (entry.trace.map { " trace=\($0)" } ?? "") + "\n")
                }
                if !events.isEmpty { try await context.emit(events) }
            }
            return Nothing()
        }
        .streaming([Self.entry.declaration])
        .details(
            "Shows the spans of all processes when they end, and entries of the log, until it is interrupted. "
                + "By default these are commands, requests to the gateway, failures and entries; '--level debug' shows all spans."
        )
        .example("martlet trace tail --level debug --scope http", "Every request to a server")
    }
}

/// An entry of the log in a list.
private struct LogRow: Record {
    let stored: StoredLog

    init(_ stored: StoredLog) {
        self.stored = stored
    }

    static let fields: [Field<LogRow>] = [
        Field("time", "When") { $0.stored.log.time },
        Field("level", "debug, info, warning or error", .state) { $0.stored.log.level.rawValue },
        Field("scope", "Feature or library it is from") { PlainText.escape($0.stored.log.scope, limit: 100) },
        Field("message", "The text", .name) { PlainText.escape($0.stored.log.message, limit: 2_000) },
        Field("service", "Program", .minor) {
            PlainText.escape($0.stored.resource["service.name"]?.string ?? "", limit: 100)
        },
        Field("attributes", "Facts about it", .detail) { JSON.object($0.stored.log.attributes) },
        Field("trace", "Id of the trace", .detail) { $0.stored.log.trace?.description },
        Field("span", "Id of the span", .detail) { $0.stored.log.span?.description },
        Field("received", "Whether another program has sent it to 'trace serve'", .detail) { $0.stored.isReceived },
    ]
}

/// How much an entry of the log matters, as it is typed.
enum LogLevelWord: String, Choice {
    case debug
    case info
    case warning
    case error

    var level: LogLevel { LogLevel(rawValue: rawValue) ?? .debug }
}

/// The arguments of `trace.logs`.
private struct LogArguments: ActionArguments {
    var query = LogQuery()
    private var level: LogLevelWord {
        get { LogLevelWord(rawValue: query.level.rawValue) ?? .debug }
        set { query.level = newValue.level }
    }

    static let bindings =
        [
            bind(\.level, .option("level", "Only entries that matter at least so much", default: .debug)),
            bind(\.query.scope, .option("scope", "Only entries of this feature or library")),
            bind(\.query.service, .option("service", "Only entries of this program")),
            bind(\.query.text, .option("text", "Only entries that contain this text")),
            bind(\.query.trace, .option("trace", "Only entries of the trace with this id, or its beginning")),
            bind(\.query.since, .option("since", "Only entries since this time")),
            bind(\.query.until, .option("until", "Only entries before this time")),
        ] + pages(of: \.query)
}

/// The arguments of `trace.tail`.
private struct TailArguments: ActionArguments {
    private var level = LogLevelWord.info
    private var scope: String?
    private var service: String?
    private var text: String?

    static let bindings = [
        bind(\.level, .option("level", "Only spans and entries that matter at least so much", default: .info)),
        bind(\.scope, .option("scope", "Only spans and entries of this feature or library")),
        bind(\.service, .option("service", "Only spans and entries of this program")),
        bind(\.text, .option("text", "Only names and messages that contain this text")),
    ]

    func includes(_ stored: StoredSpan) -> Bool { isOfService(stored.resource) }

    func includes(_ stored: StoredLog) -> Bool { isOfService(stored.resource) }

    private func isOfService(_ resource: JSONObject) -> Bool {
        service.map { resource["service.name"]?.string == $0 } ?? true
    }

    func includes(_ entry: LogRecord) -> Bool {
        entry.level >= level.level && (scope.map { $0 == entry.scope } ?? true)
            && (text.map { entry.message.lowercased().contains($0.lowercased()) } ?? true)
    }
}
