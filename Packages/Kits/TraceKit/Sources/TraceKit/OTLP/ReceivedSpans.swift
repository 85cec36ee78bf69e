public import Capabilities
import JSON

/// The spans, the entries of the log or the metrics in a request from another program, and what of it was rejected.
///
/// ```swift
/// let received = try ReceivedSpans(parsing: body, as: .json)
/// for group in received.groups { store(group.spans, of: group.resource) }
/// answer(received.response)
/// ```
///
/// A failed span has a failure: its attribute `error.type`, or `error` without one. What its status says besides is the
/// attribute `otel.status_description`; the status OK is the attribute `otel.status_code`. A time is cut to microseconds.
public struct ReceivedSpans: Sendable {
    /// The spans that one part of one program sent.
    public struct Group: Sendable {
        /// The program.
        public internal(set) var resource: TraceResource
        /// The part of it, whose name is the feature of the spans.
        public internal(set) var scope: TraceScope
        /// The spans, in the order of the request.
        public internal(set) var spans: [TraceSpan] = []
        /// The entries of the log, in the order of the request.
        public internal(set) var logs: [LogRecord] = []
        /// The data points of metrics, in the order of the request.
        public internal(set) var metrics: [MetricPoint] = []

        var isEmpty: Bool { spans.isEmpty && logs.isEmpty && metrics.isEmpty }
    }

    /// Why a span, an entry or a data point was rejected.
    public enum Rejection: Sendable, Hashable {
        /// An id is not one.
        case traceID, spanID, parentID
        /// Values are nested too deeply, more than these levels.
        case depth(Int)
        /// A metric has no name.
        case metricName
        /// A data point has no time.
        case time
        /// A data point has no number.
        case value
        /// A data point has more attributes than these.
        case attributes(Int)
        /// There are more spans than these.
        case spans(Int)
        /// There are more values than these.
        case values(Int)

        /// The reason in words.
        public var words: String {
            switch self {
            case .traceID: "the trace id is not 16 bytes or is zero"
            case .spanID: "the span id is not 8 bytes or is zero"
            case .parentID: "the parent span id is not 8 bytes"
            case .depth(let limit): "values are nested deeper than \(limit) levels"
            case .metricName: "the metric has no name"
            case .time: "the data point has no time"
            case .value: "the value is missing or not finite"
            case .attributes(let limit): "the data point has more than \(limit) attributes"
            case .spans(let limit): "the request has more than \(limit) spans, entries or data points"
            case .values(let limit): "the request has more than \(limit) attributes and events"
            }
        }
    }

    /// The spans, by who sent them.
    public internal(set) var groups: [Group] = []
    /// What the request has.
    public internal(set) var signal = OTLPSignal.traces
    /// How many were rejected for each reason.
    public internal(set) var rejections: [Rejection: Int] = [:]

    /// How many spans, entries and data points there are.
    public var count: Int { groups.reduce(0) { $0 + $1.spans.count + $1.logs.count + $1.metrics.count } }

    /// How many were rejected.
    public var rejected: Int { rejections.values.reduce(0, +) }

    /// What the sender is told.
    public var response: OTLPResponse {
        let reasons = rejections.map { "\($0.key.words) (\($0.value))" }.sorted()
        return OTLPResponse(to: signal, rejected: rejected, message: reasons.joined(separator: "; "))
    }

    /// Reads a request, already without its compression.
    ///
    /// - Throws: a `TraceKitError` if the bytes as a whole are no such request. Then nothing was taken.
    public init(
        parsing bytes: [UInt8], of signal: OTLPSignal = .traces, as encoding: OTLPEncoding,
        limits: OTLPLimits = OTLPLimits()
    ) throws {
        switch encoding {
        case .protobuf:
            var reader = OTLPProtobufReader(bytes, of: signal, limits)
            try reader.readRequest()
            self = reader.intake.received
        case .json:
            var reader = OTLPJSONReader(of: signal, limits)
            do {
                try JSONPullReader.read(bytes) { try reader.readRequest(&$0) }
            } catch let error as JSONError {
                let place = error.path.isEmpty ? "" : " in \(error.path.joined(separator: "."))"
                throw TraceKitError(
                    error.code == .size ? .tooLarge : .malformed,
                    "this is no OTLP request in JSON: \(error.message) at byte \(error.offset)\(place)")
            }
            self = reader.intake.received
        }
    }

    init(of signal: OTLPSignal) { self.signal = signal }
}
