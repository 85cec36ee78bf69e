import Capabilities
public import JSON
public import TraceKit
public import TraceStore

/// What a collector gets: a span, an entry of the log, or the values of a metric.
public protocol ExportItem: Sendable {
    /// What kind of requests have it.
    static var signal: OTLPSignal { get }
    /// How many it is in the answer of a collector.
    var count: Int { get }
    /// A request with items, neighbours of the same program together.
    static func request(with items: [Self], as encoding: OTLPEncoding) -> [UInt8]
}

extension ExportItem {
    public var count: Int { 1 }

    /// Neighbours with the same resource, each with what is exported of it.
    fileprivate static func parts<Content>(
        of items: [Self], _ resource: (Self) -> JSONObject, _ content: (Self) -> Content
    ) -> [(program: OTLPRequest, contents: [Content])] {
        var parts: [(program: OTLPRequest, contents: [Content])] = []
        var last: JSONObject?
        for item in items {
            let resource = resource(item)
            if resource != last {
                parts.append((OTLPRequest(resource: TraceResource(attributes: resource)), []))
                last = resource
            }
            parts[parts.count - 1].contents.append(content(item))
        }
        return parts
    }
}

extension StoredSpan: ExportItem {
    public static func request(with items: [StoredSpan], as encoding: OTLPEncoding) -> [UInt8] {
        var bytes: [UInt8] = []
        let parts = parts(of: items, \.resource, \.span).map { (program: $0.program, spans: $0.contents) }
        OTLPRequest.write(parts, as: encoding, into: &bytes)
        return bytes
    }
}

extension StoredLog: ExportItem {
    public static func request(with items: [StoredLog], as encoding: OTLPEncoding) -> [UInt8] {
        var bytes: [UInt8] = []
        let parts = parts(of: items, \.resource, \.log).map { (program: $0.program, logs: $0.contents) }
        OTLPRequest.write(parts, as: encoding, into: &bytes)
        return bytes
    }
}

/// The values of a metric of a process.
public struct ExportedMetric: ExportItem {
    /// The values.
    public let reading: MetricReading
    /// What the process is.
    public let resource: JSONObject

    /// The values of a metric of a process.
    public init(_ reading: MetricReading, of resource: JSONObject) {
        (self.reading, self.resource) = (reading, resource)
    }

    public static var signal: OTLPSignal { .metrics }

    public var count: Int { reading.family.samples.count }

    public static func request(with items: [ExportedMetric], as encoding: OTLPEncoding) -> [UInt8] {
        var bytes: [UInt8] = []
        let parts = parts(of: items, \.resource, \.reading).map { (program: $0.program, metrics: $0.contents) }
        OTLPRequest.write(parts, as: encoding, into: &bytes)
        return bytes
    }
}

extension OTLPSignal {
    /// Its subject in sentences.
    public var words: String {
        switch self {
        case .traces: "traces"
        case .logs: "the log"
        case .metrics: "metrics"
        }
    }

    /// What is counted of it.
    public var things: String {
        switch self {
        case .traces: "spans"
        case .logs: "entries of the log"
        case .metrics: "values of metrics"
        }
    }

    /// One of them, as a request has it.
    var thing: String {
        switch self {
        case .traces: "a span"
        case .logs: "an entry of the log"
        case .metrics: "a metric"
        }
    }
}
