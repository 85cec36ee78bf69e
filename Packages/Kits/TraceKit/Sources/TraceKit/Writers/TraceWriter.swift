public import Capabilities
import JSON

/// Writes spans in a form for other programs, one after another. It keeps nothing that grows with their number, so that the
/// caller may pass on and empty the bytes after each call.
///
/// ```swift
/// var (writer, bytes) = (TraceFormat.chrome.makeWriter(), [UInt8]())
/// writer.begin(into: &bytes)
/// for span in spans { writer.write(span, of: resource, into: &bytes) }
/// writer.end(into: &bytes)
/// ```
public protocol TraceWriter: Sendable {
    /// Appends what is before the first span.
    mutating func begin(into bytes: inout [UInt8])

    /// Appends a span.
    ///
    /// - Parameter resource: who did the work. Neighbours with the same resource are best written together.
    mutating func write(_ span: TraceSpan, of resource: TraceResource, into bytes: inout [UInt8])

    /// Appends what is after the last span.
    mutating func end(into bytes: inout [UInt8])
}

/// The forms in which spans can be written.
public enum TraceFormat: String, Sendable, Hashable, CaseIterable {
    /// A span a line: `SpanLine`.
    case ndjson
    /// A request of OTLP in JSON a line, as the file receiver of OpenTelemetry's Collector reads it.
    case otlp
    /// Chrome's trace format, for Perfetto.
    case chrome
    /// A table with a row a span.
    case csv
    /// A page with a waterfall.
    case html

    /// A writer of this form.
    public func makeWriter() -> any TraceWriter {
        switch self {
        case .ndjson: SpanLineWriter()
        case .otlp: OTLPLineWriter()
        case .chrome: ChromeTraceWriter()
        case .csv: CSVTraceWriter()
        case .html: HTMLTraceWriter()
        }
    }
}

/// Writes a span a line, without its resource.
struct SpanLineWriter: TraceWriter {
    func begin(into bytes: inout [UInt8]) {}

    func write(_ span: TraceSpan, of resource: TraceResource, into bytes: inout [UInt8]) {
        SpanLine.write(span, into: &bytes)
    }

    func end(into bytes: inout [UInt8]) {}
}

/// Writes a request of OTLP a line, each with the spans of one resource.
struct OTLPLineWriter: TraceWriter {
    private static let most = 256
    private var spans: [TraceSpan] = []
    private var resource = TraceResource()

    func begin(into bytes: inout [UInt8]) {}

    mutating func write(_ span: TraceSpan, of resource: TraceResource, into bytes: inout [UInt8]) {
        if spans.count == Self.most || resource != self.resource { flush(into: &bytes) }
        self.resource = resource
        spans.append(span)
    }

    mutating func end(into bytes: inout [UInt8]) { flush(into: &bytes) }

    private mutating func flush(into bytes: inout [UInt8]) {
        guard !spans.isEmpty else { return }
        OTLPRequest(resource: resource).write(spans, as: .json, into: &bytes)
        bytes.add("\n")
        spans.removeAll(keepingCapacity: true)
    }
}

extension TraceResource {
    /// The name of the program, for people.
    var service: String { attributes["service.name"]?.string ?? "" }
}
