import Capabilities
import JSON
import TraceStore

/// A trace in a list.
struct TraceRow: Record {
    let trace: TraceSummary

    init(_ trace: TraceSummary) {
        self.trace = trace
    }

    static let fields: [Field<TraceRow>] = [
        Field("id", "Id of the trace", .name) { String($0.trace.id.prefix(12)) },
        Field("time", "When it began") { $0.trace.began },
        Field("name", "Name of its first span; … while that has not ended") {
            PlainText.escape($0.trace.name ?? "…", limit: 200)
        },
        Field("duration", "How long it took") { $0.trace.duration },
        Field("spans", "Number of spans") { $0.trace.spans },
        Field("failures", "Number of spans that failed") { $0.trace.failures },
        Field("state", "ok, or the code of the error that ended it", .state) {
            PlainText.escape($0.trace.failure ?? "ok")
        },
        Field("service", "Program in which it began", .minor) { PlainText.escape($0.trace.service, limit: 100) },
        Field("trace", "Whole id", .detail) { $0.trace.id },
        Field("conversation", "Conversation it is about", .detail) { row in
            row.trace.conversation.map { PlainText.escape($0, limit: 128) }
        },
        Field("run", "Run of a bundle it is about", .detail) { row in
            row.trace.run.map { PlainText.escape($0, limit: 128) }
        },
    ]
}

/// A span with everything that is known of it.
struct SpanDetail: Record {
    private static let messagesKey = "\(SpanKey.processMessages)"

    let stored: StoredSpan

    private var messages: String? { stored.span.attributes[Self.messagesKey]?.string }

    static let fields: [Field<SpanDetail>] = [
        Field("name", "Name of the span", .name) { PlainText.escape($0.stored.span.name, limit: 500) },
        Field("state", "ok, or the code of the error", .state) { PlainText.escape($0.stored.span.failure ?? "ok") },
        Field("feature", "Feature that did it") { PlainText.escape($0.stored.span.feature) },
        Field("kind", "internal, server, client, producer or consumer") { "\($0.stored.span.kind)" },
        Field("began", "When it began") { $0.stored.span.start },
        Field("duration", "How long it took") { $0.stored.span.duration },
        Field("stderr", "The end of what its program wrote to its standard error") { detail in
            detail.messages.map(PlainText.escapeLines)
        },
        Field("attributes", "Facts about it") { detail in
            var attributes = detail.stored.span.attributes
            // What is shown above is not repeated.
            if detail.messages != nil { attributes[messagesKey] = nil }
            return JSON.object(attributes)
        },
        Field("events", "What happened in it") { detail in
            detail.stored.span.events.map { event in
                SpanEventRow(event: event, began: detail.stored.span.start)
            }
        },
        Field("received", "Whether another program has sent it to 'trace serve'", .detail) { $0.stored.isReceived },
        Field("process", "What recorded it") { JSON.object($0.stored.resource) },
        Field("trace", "Id of its trace") { $0.stored.span.context.trace.description },
        Field("span", "Its id") { $0.stored.span.context.span.description },
        Field("parent", "Id of the span around it") { $0.stored.span.parent?.description },
        Field("left_out", "Number of facts that were left out", .detail) { $0.stored.span.dropped },
    ]
}

/// Something that happened in a span.
struct SpanEventRow: Record {
    let event: TraceSpan.Event
    let began: Timestamp

    static let fields: [Field<SpanEventRow>] = [
        Field("after", "How long after the beginning") { $0.event.time - $0.began },
        Field("name", "What happened", .name) { PlainText.escape($0.event.name, limit: 500) },
        Field("attributes", "Facts about it") { JSON.object($0.event.attributes) },
    ]
}
