import Capabilities
public import JSON

/// The two forms in which OTLP travels over HTTP.
public enum OTLPEncoding: String, Sendable, Hashable, CaseIterable {
    /// Protocol Buffers, which every receiver takes.
    case protobuf
    /// JSON, with hexadecimal ids and numbers of 64 bits as texts.
    case json

    /// The media type of requests and answers.
    public var contentType: String { self == .json ? "application/json" : "application/x-protobuf" }
}

/// Who did the work of some spans: a program on a machine.
public struct TraceResource: Sendable, Hashable {
    /// Facts such as `service.name`, `service.version`, `process.pid` and `host.name`.
    public var attributes: JSONObject

    /// A resource with these facts.
    public init(attributes: JSONObject = [:]) { self.attributes = attributes }
}

/// The part of a program that did the work of some spans: a feature here, a library elsewhere.
public struct TraceScope: Sendable, Hashable {
    /// Its name.
    public var name: String
    /// Its version, if it is known.
    public var version: String?
    /// Facts about it.
    public var attributes: JSONObject

    /// A part of a program.
    public init(name: String, version: String? = nil, attributes: JSONObject = [:]) {
        (self.name, self.version, self.attributes) = (name, version, attributes)
    }
}

/// How the end of a span is told in OTLP: a status, and the attribute `error.type`.
///
/// OTLP has a code, a message and the attribute where we have one failure. What does not fit is an attribute under the name
/// that OpenTelemetry has for it: "OpenTelemetry Status … MUST be reported as key-value pairs" `otel.status_code` and
/// `otel.status_description`.
struct OTLPStatus {
    static let errorTypeName = "error.type"
    static let descriptionName = "otel.status_description"
    static let okName = "otel.status_code"
    /// The failure of a span that failed without saying why.
    static let unnamed = "error"

    /// 0 for unknown, 1 for good, 2 for failed.
    var code = 0
    var message = ""
    /// The value of `error.type`, if it is not an attribute anyway.
    var type: String?
    /// The attribute that the status already tells.
    var hidden: String?

    init() {}

    init(_ span: TraceSpan) {
        if let failure = span.failure {
            code = 2
            message = failure == Self.unnamed ? "" : failure
            if let description = span.attributes[Self.descriptionName]?.string, !description.isEmpty,
                description != failure
            {
                (message, hidden) = (description, Self.descriptionName)
            }
            if failure != Self.unnamed, span.attributes[Self.errorTypeName] == nil { type = failure }
        } else if span.attributes[Self.okName] == "OK" {
            (code, hidden) = (1, Self.okName)
        }
    }

    /// The failure, if it is one; moves what else is told into the attributes.
    func failure(_ attributes: inout JSONObject) -> String? {
        if code == 1 { attributes[Self.okName] = "OK" }
        guard code == 2 else { return nil }
        let type = attributes[Self.errorTypeName]?.string
        if type != nil { attributes[Self.errorTypeName] = nil }
        if !message.isEmpty, message != type { attributes[Self.descriptionName] = .string(message) }
        return type ?? Self.unnamed
    }
}

/// The bits of a span's flags: the flags of its trace context, and what is known about its parent.
enum OTLPFlags {
    static let sampled: UInt32 = 1
    static let knowsRemote: UInt32 = 0x100
    static let remote: UInt32 = 0x200

    static func of(_ span: TraceSpan) -> UInt32 { of(span.context) | (span.isParentRemote ? remote : 0) }

    static func of(_ link: TraceSpan.Link) -> UInt32 { of(link.context) }

    private static func of(_ context: TraceContext) -> UInt32 { knowsRemote | (context.isSampled ? sampled : 0) }
}

extension TraceSpan {
    /// When the work began and ended, in nanoseconds since 1970. What is before or too far away is as near as it gets.
    var nanoseconds: (start: UInt64, end: UInt64) {
        let start = start.nanoseconds
        let (end, isOver) = start.addingReportingOverflow(UInt64(max(0, duration.wholeNanoseconds)))
        return (start, isOver ? .max : end)
    }
}

extension Timestamp {
    /// Nanoseconds since 1970. What is before or too far away is as near as it gets.
    var nanoseconds: UInt64 {
        let (product, isOver) = UInt64(max(0, microseconds)).multipliedReportingOverflow(by: 1_000)
        return isOver ? .max : product
    }
}
