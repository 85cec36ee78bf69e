public import Capabilities
import JSON

extension SpanLine {
    /// Reads a line, with or without the line feed at its end.
    ///
    /// - Throws: a `TraceKitError` for what is no line of a span, such as one that was cut.
    public static func read(_ line: some Collection<UInt8>) throws -> TraceSpan {
        let span: TraceSpan?
        do {
            let read = try line.withContiguousStorageIfAvailable { bytes in try unsafe parse(bytes.span) }
            span = try read ?? parse(Array(line).span)
        } catch let error as JSONError {
            throw TraceKitError(.malformed, "this is no line of a span: \(error.message) at byte \(error.offset)")
        }
        guard let span else {
            throw TraceKitError(
                .malformed, "this is no line of a span: an id, the name, the scope or a time is missing")
        }
        return span
    }

    private static func parse(_ bytes: Span<UInt8>) throws -> TraceSpan? {
        try JSONPullReader.read(bytes) { reader in
            var draft = Draft()
            try reader.object { reader, key in
                guard !reader.isNull else { return }
                if try draft.ids.read(key, &reader) { return }
                switch key {
                case "parent_id": draft.parent = try reader.spanID()
                case "parent_remote": draft.isParentRemote = try reader.bool()
                case "name": draft.name = try reader.string()
                case "scope": draft.scope = try reader.string()
                case "kind":
                    draft.kind = try reader.text { word in
                        SpanRecord.Kind.all.first { $0.literal ~= word } ?? .internal
                    }
                case "start_us": draft.start = Timestamp(microseconds: Int64(try reader.int()))
                case "duration_ns": draft.nanoseconds = Int64(try reader.int())
                case "failure": draft.failure = try reader.string()
                case "attributes": draft.attributes = try reader.members()
                case "events": try reader.array { reader in draft.events.append(try readEvent(&reader)) }
                case "links":
                    try reader.array { reader in
                        if let link = try readLink(&reader) { draft.links.append(link) }
                    }
                case "dropped": draft.dropped = max(0, try reader.int())
                default: break
                }
            }
            return draft.span
        }
    }

    private static func readEvent(_ reader: inout JSONPullReader) throws -> TraceSpan.Event {
        var (name, time, attributes) = ("", Timestamp(microseconds: 0), JSONObject())
        try reader.object { reader, key in
            switch key {
            case "name": name = try reader.string()
            case "time_us": time = Timestamp(microseconds: Int64(try reader.int()))
            case "attributes": attributes = try reader.members()
            default: break
            }
        }
        return TraceSpan.Event(name: name, time: time, attributes: attributes)
    }

    private static func readLink(_ reader: inout JSONPullReader) throws -> TraceSpan.Link? {
        var (ids, attributes) = (IDs(), JSONObject())
        try reader.object { reader, key in
            if try ids.read(key, &reader) { return }
            if key == "attributes" { attributes = try reader.members() }
        }
        return ids.context.map { TraceSpan.Link(to: $0, attributes: attributes) }
    }
}

/// The members that a span and a link have in common.
private struct IDs {
    private var trace: TraceID?
    private var span: SpanID?
    private var isSampled = true
    private var state: String?

    mutating func read(_ key: JSONKey, _ reader: inout JSONPullReader) throws -> Bool {
        switch key {
        case "trace_id": trace = try reader.traceID()
        case "span_id": span = try reader.spanID()
        case "sampled": isSampled = try reader.bool()
        case "trace_state": state = try reader.string()
        default: return false
        }
        return true
    }

    var context: TraceContext? {
        guard let trace, let span else { return nil }
        return TraceContext(trace: trace, span: span, isSampled: isSampled, state: state)
    }
}

/// A span while its members are read, in any order.
private struct Draft {
    var ids = IDs()
    var parent: SpanID?
    var isParentRemote = false
    var name: String?
    var scope: String?
    var kind = SpanRecord.Kind.internal
    var start: Timestamp?
    var nanoseconds: Int64?
    var failure: String?
    var attributes: JSONObject = [:]
    var events: [TraceSpan.Event] = []
    var links: [TraceSpan.Link] = []
    var dropped = 0

    var span: TraceSpan? {
        guard let context = ids.context, let name, let scope, let start, let nanoseconds else { return nil }
        var span = TraceSpan(
            name: name, feature: scope, context: context, parent: parent, start: start,
            duration: .nanoseconds(nanoseconds), attributes: attributes, failure: failure)
        (span.kind, span.events, span.links, span.dropped) = (kind, events, links, dropped)
        span.isParentRemote = isParentRemote && parent != nil
        return span
    }
}

extension JSONPullReader {
    /// An id of 32 digits; nil if it is none.
    fileprivate mutating func traceID() throws -> TraceID? {
        try text { text in
            let digits = text.span
            guard digits.count == 32, let high = UInt64(hexadecimal: digits.extracting(..<16)),
                let low = UInt64(hexadecimal: digits.extracting(16...))
            else { return nil }
            return TraceID(words: (high, low))
        }
    }

    /// An id of 16 digits; nil if it is none.
    fileprivate mutating func spanID() throws -> SpanID? {
        try text { text in
            guard text.count == 16, let word = UInt64(hexadecimal: text.span) else { return nil }
            return SpanID(word: word)
        }
    }

    /// The members of an object, and nothing for another value.
    fileprivate mutating func members() throws -> JSONObject { try value().object ?? [:] }
}
