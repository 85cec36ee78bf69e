public import Capabilities
import JSON

/// A span as one line of JSON, the form of spools and of exports as NDJSON.
///
/// ```swift
/// var lines: [UInt8] = []
/// SpanLine.write(span, into: &lines)
/// let again = try SpanLine.read(lines)
/// ```
///
/// What is written is read again as the same span, but for numbers that JSON does not have: they become the texts `NaN`,
/// `Infinity` and `-Infinity`. Members that a reader does not know are skipped, so that later versions may add some.
public enum SpanLine {
    /// The members of a line. The README of this package tells the same.
    public static let schema = Schema.record([
        Schema.Property("trace_id", "Shared by all spans of a trace: 32 hexadecimal digits", .string),
        Schema.Property("span_id", "The span: 16 hexadecimal digits", .string),
        Schema.Property("parent_id", "The span around it; absent for the first of a trace", .optional(.string)),
        Schema.Property(
            "parent_remote", "Whether the span around it is one of another program", .optional(.boolean),
            defaultValue: false),
        Schema.Property(
            "sampled", "Whether the trace was chosen to be recorded", .optional(.boolean), defaultValue: true),
        Schema.Property("trace_state", "What other programs added: W3C tracestate", .optional(.string)),
        Schema.Property("name", "The kind of work, such as gateway.turn", .string),
        Schema.Property("scope", "The feature or library that did the work", .string),
        Schema.Property("kind", "Which side of an exchange it is", .optional(.choice(kinds)), defaultValue: "internal"),
        Schema.Property("start_us", "When it began: microseconds since 1970 in UTC", .integer(nil)),
        Schema.Property("duration_ns", "How long it took, in nanoseconds", .integer(nil)),
        Schema.Property("failure", "The code of the error that ended it; absent after success", .optional(.string)),
        Schema.Property("attributes", "Facts about the work", .optional(.map(.any))),
        Schema.Property("events", "What happened in it, in order", .optional(.array(event))),
        Schema.Property("links", "Other spans that it has to do with", .optional(.array(link))),
        Schema.Property(
            "dropped", "How many attributes, events and links were left out", .optional(.integer(0...Int.max)),
            defaultValue: 0),
    ])

    private static let event = Schema.record([
        Schema.Property("name", "What happened", .string),
        Schema.Property("time_us", "When: microseconds since 1970 in UTC", .integer(nil)),
        Schema.Property("attributes", "Facts about it", .optional(.map(.any))),
    ])

    private static let link = Schema.record([
        Schema.Property("trace_id", "The trace of the other span", .string),
        Schema.Property("span_id", "The other span", .string),
        Schema.Property(
            "sampled", "Whether that trace was chosen to be recorded", .optional(.boolean), defaultValue: true),
        Schema.Property("trace_state", "What other programs added to that trace", .optional(.string)),
        Schema.Property("attributes", "Facts about the connection", .optional(.map(.any))),
    ])

    private static let kinds = SpanRecord.Kind.all.map(\.word)

    /// Appends the line of a span, with the line feed at its end.
    public static func write(_ span: TraceSpan, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "{"))
        write(span.context, into: &bytes)
        if let parent = span.parent {
            bytes.add(",\"parent_id\":\"")
            bytes.addHexadecimal(parent.word)
            bytes.add("\"")
            if span.isParentRemote { bytes.add(",\"parent_remote\":true") }
        }
        bytes.add(",\"name\":")
        bytes.addJSON(span.name)
        bytes.add(",\"scope\":")
        bytes.addJSON(span.feature)
        bytes.add(",\"kind\":\"")
        bytes.add(span.kind.literal)
        bytes.add("\",\"start_us\":")
        bytes.addDecimal(span.start.microseconds)
        bytes.add(",\"duration_ns\":")
        bytes.addDecimal(span.duration.wholeNanoseconds)
        if let failure = span.failure {
            bytes.add(",\"failure\":")
            bytes.addJSON(failure)
        }
        write(span.attributes, into: &bytes)
        if !span.events.isEmpty { write(span.events, into: &bytes) }
        if !span.links.isEmpty { write(span.links, into: &bytes) }
        if span.dropped > 0 {
            bytes.add(",\"dropped\":")
            bytes.addDecimal(Int64(span.dropped))
        }
        bytes.add("}\n")
    }

    private static func write(_ context: TraceContext, into bytes: inout [UInt8]) {
        bytes.add("\"trace_id\":\"")
        bytes.addHexadecimal(context.trace.words.0)
        bytes.addHexadecimal(context.trace.words.1)
        bytes.add("\",\"span_id\":\"")
        bytes.addHexadecimal(context.span.word)
        bytes.add("\"")
        if !context.isSampled { bytes.add(",\"sampled\":false") }
        if let state = context.state {
            bytes.add(",\"trace_state\":")
            bytes.addJSON(state)
        }
    }

    private static func write(_ attributes: JSONObject, into bytes: inout [UInt8]) {
        guard !attributes.isEmpty else { return }
        bytes.add(",\"attributes\":")
        bytes.addJSON(attributes)
    }

    private static func write(_ events: [TraceSpan.Event], into bytes: inout [UInt8]) {
        bytes.add(",\"events\":[")
        for (place, event) in events.enumerated() {
            bytes.add(place == 0 ? "{\"name\":" : ",{\"name\":")
            bytes.addJSON(event.name)
            bytes.add(",\"time_us\":")
            bytes.addDecimal(event.time.microseconds)
            write(event.attributes, into: &bytes)
            bytes.add("}")
        }
        bytes.add("]")
    }

    private static func write(_ links: [TraceSpan.Link], into bytes: inout [UInt8]) {
        bytes.add(",\"links\":[")
        for (place, link) in links.enumerated() {
            bytes.add(place == 0 ? "{" : ",{")
            write(link.context, into: &bytes)
            write(link.attributes, into: &bytes)
            bytes.add("}")
        }
        bytes.add("]")
    }
}
