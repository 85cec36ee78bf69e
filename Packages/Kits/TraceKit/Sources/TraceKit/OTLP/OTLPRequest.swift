public import Capabilities

/// Writes requests that export spans: `ExportTraceServiceRequest`.
///
/// ```swift
/// let request = OTLPRequest(resource: TraceResource(attributes: ["service.name": "martlet"]), version: "1.2.0")
/// var body: [UInt8] = []
/// request.write(spans, as: .protobuf, into: &body)
/// ```
///
/// Spans are grouped by their features, which become scopes. In protobuf, one request after another in the same bytes is one
/// request with all their spans, so that many spans can be written in parts.
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
        if encoding == .json { bytes.add("{\"resourceSpans\":[") }
        var isFirst = true
        for part in parts where !part.spans.isEmpty {
            switch encoding {
            case .protobuf: part.program.writeProtobuf(scopes(of: part.spans), into: &bytes)
            case .json:
                if !isFirst { bytes.add(",") }
                part.program.writeJSON(scopes(of: part.spans), into: &bytes)
            }
            isFirst = false
        }
        if encoding == .json { bytes.add("]}") }
    }

    /// The spans of each feature, in the order of their first spans.
    private static func scopes(of spans: some Collection<TraceSpan>) -> [(name: String, spans: [TraceSpan])] {
        var scopes: [(name: String, spans: [TraceSpan])] = []
        var places: [String: Int] = [:]
        var last = -1
        for span in spans {
            // Neighbours are often of the same feature.
            if last < 0 || scopes[last].name != span.feature {
                last = places[span.feature] ?? scopes.count
                if last == scopes.count {
                    places[span.feature] = last
                    scopes.append((span.feature, []))
                }
            }
            scopes[last].spans.append(span)
        }
        return scopes
    }
}
