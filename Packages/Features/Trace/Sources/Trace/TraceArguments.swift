import Capabilities
import Registry
import TraceStore

/// Arguments that select traces.
protocol TraceSelection: ActionArguments {
    var query: TraceQuery { get set }
}

extension TraceSelection {
    /// The period and the program.
    static var period: [ArgumentBinding<Self>] {
        [
            bind(\.query.since, .option("since", "Only traces that began since this time")),
            bind(\.query.until, .option("until", "Only traces that began before this time")),
            bind(\.query.service, .option("service", "Only traces of this program")),
        ]
    }

    /// What happened in them, besides.
    static var content: [ArgumentBinding<Self>] {
        [
            bind(\.query.text, .option("text", "Only traces with a span whose name contains this text")),
            bind(\.query.hasFailed, .flag("failed", "Only traces in which something failed")),
            bind(\.query.longer, .option("longer", "Only traces that took at least this long")),
        ]
    }
}

/// The arguments of `trace.list`.
struct TraceListArguments: TraceSelection {
    var query = TraceQuery()

    static let bindings =
        period + content + [
            bind(
                \.query.subject,
                .option(
                    "about",
                    "Only traces of the conversation, gateway session, run or request with this id, or of 'message:NUMBER'"
                ))
        ] + pages(of: \.query)

    init() {}
}

/// The arguments of `trace.export`.
struct TraceExportArguments: TraceSelection {
    var query = TraceQuery()
    private(set) var ids: [String] = []
    private(set) var form = SpanText.Form.ndjson
    private(set) var output: WritePath?
    private(set) var isFollowing = false

    static let bindings =
        [
            bind(\.ids, .argument("ids", "Ids of traces, or their beginnings; all that match if none is given")),
            bind(\.form, .option("as", "Form of the text", default: .ndjson)),
            bind(\.isFollowing, .flag("follow", "Go on with the spans that come, of all traces, until interrupted")),
            bind(\.output, .option("output", "Write to this file instead of printing")),
        ] + period + content

    init() {}
}

extension TraceExportArguments {
    /// Spans that come can only be added to lines that are printed.
    func checkFollowing() throws {
        guard form == .ndjson || form == .otlp, output == nil else {
            throw ArgumentsFailure(
                action: "trace.export",
                problems: [ValueError("works only with --as ndjson or otlp, and without --output", at: ["--follow"])])
        }
    }
}

/// The arguments of `trace.send`.
struct TraceSendArguments: TraceSelection {
    var query = TraceQuery()
    private(set) var ids: [String] = []
    private(set) var isWaiting = false

    static let bindings =
        [
            bind(\.ids, .argument("ids", "Ids of traces, or their beginnings; all that match if none is given")),
            bind(\.isWaiting, .flag("waiting", "Only what waits to be sent, without waiting any longer")),
        ] + period + content

    init() {}
}
