import Capabilities
import JSON
import TraceKit
import TraceStore

/// Spans as text for other programs, in pieces, so that memory does not grow with them.
struct SpanText {
    /// The form of the text.
    enum Form: String, Choice {
        /// A span a line, with lines that say what recorded those after them.
        case ndjson
        /// A request of OTLP in JSON a line.
        case otlp
        /// Chrome's trace format, for Perfetto.
        case chrome
        /// A table with a row a span.
        case csv
        /// A page with a waterfall.
        case html
    }

    /// The bytes of a piece.
    private static let piece = 256 << 10

    private var bytes: [UInt8] = []
    /// Nil for lines, which have their own form of the resource.
    private var writer: (any TraceWriter)?
    private var resource: JSONObject?
    private(set) var count = 0

    init(_ form: Form) {
        writer = form == .ndjson ? nil : TraceFormat(rawValue: form.rawValue)?.makeWriter()
        writer?.begin(into: &bytes)
    }

    /// Adds a span.
    ///
    /// - Returns: a piece of the text, if it is long enough.
    mutating func add(_ stored: StoredSpan) -> [UInt8]? {
        count += 1
        if writer != nil {
            writer?.write(stored.span, of: TraceResource(attributes: stored.resource), into: &bytes)
        } else {
            if resource != stored.resource { SpoolLine.write(resource: stored.resource, into: &bytes) }
            resource = stored.resource
            SpanLine.write(stored.span, into: &bytes)
        }
        return bytes.count >= Self.piece ? take() : nil
    }

    /// The rest of the text.
    mutating func end() -> [UInt8] {
        writer?.end(into: &bytes)
        return take()
    }

    /// The text so far, for a form of lines, which can be read before its end.
    mutating func soFar() -> [UInt8] { take() }

    private mutating func take() -> [UInt8] { exchange(&bytes, with: []) }
}
