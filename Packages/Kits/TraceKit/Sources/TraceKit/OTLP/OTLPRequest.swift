public import Capabilities

/// Writes requests that export spans, entries of the log or metrics, such as `ExportTraceServiceRequest`.
///
/// ```swift
/// let request = OTLPRequest(resource: TraceResource(attributes: ["service.name": "martlet"]), version: "1.2.0")
/// var body: [UInt8] = []
/// request.write(spans, as: .protobuf, into: &body)
/// ```
///
/// They are grouped by their features, which become scopes. In protobuf, one request after another in the same bytes is one
/// request with all of them, so that many can be written in parts.
public struct OTLPRequest: Sendable {
    /// Who did the work.
    public let resource: TraceResource
    /// The version of all features, if it is told.
    public let version: String?

    /// Requests from one program.
    public init(resource: TraceResource, version: String? = nil) {
        (self.resource, self.version) = (resource, version)
    }

    /// Appends a request with these spans.
    public func write(_ spans: some Collection<TraceSpan>, as encoding: OTLPEncoding, into bytes: inout [UInt8]) {
        Self.write([(self, Array(spans))], as: encoding, into: &bytes)
    }

    /// Appends a single request with the spans of several programs.
    public static func write(
        _ parts: [(program: OTLPRequest, spans: [TraceSpan])], as encoding: OTLPEncoding, into bytes: inout [UInt8]
    ) {
        write(items: parts.map { ($0.program, $0.spans) }, as: encoding, into: &bytes)
    }

    /// Appends a single request with the entries of the log of several programs.
    public static func write(
        _ parts: [(program: OTLPRequest, logs: [LogRecord])], as encoding: OTLPEncoding, into bytes: inout [UInt8]
    ) {
        write(items: parts.map { ($0.program, $0.logs) }, as: encoding, into: &bytes)
    }

    /// Appends a single request with the metrics of several programs.
    public static func write(
        _ parts: [(program: OTLPRequest, metrics: [MetricReading])], as encoding: OTLPEncoding,
        into bytes: inout [UInt8]
    ) {
        write(items: parts.map { ($0.program, $0.metrics) }, as: encoding, into: &bytes)
    }

    private static func write<Item: OTLPItem>(
        items parts: [(program: OTLPRequest, items: [Item])], as encoding: OTLPEncoding, into bytes: inout [UInt8]
    ) {
        if encoding == .json {
            bytes.add("{\"")
            bytes.add(Item.signal.members.resources)
            bytes.add("\":[")
        }
        var isFirst = true
        for part in parts where !part.items.isEmpty {
            let scopes = OTLPScope.scopes(of: part.items)
            switch encoding {
            case .protobuf: part.program.writeProtobuf(scopes, into: &bytes)
            case .json:
                if !isFirst { bytes.add(",") }
                part.program.writeJSON(scopes, into: &bytes)
            }
            isFirst = false
        }
        if encoding == .json { bytes.add("]}") }
    }
}
