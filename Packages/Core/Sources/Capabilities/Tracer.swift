public import JSON
import Synchronization

/// Records spans of work and passes them to all sinks. Without a sink it costs one branch.
public struct Tracer: Sendable {
    private let sinks: [any SpanSink]
    private let now: @Sendable () -> Timestamp
    private let redactor: Redactor

    /// Whether anything receives the spans.
    package var isRecording: Bool { !sinks.isEmpty }

    /// - Parameter redactor: removes secrets from the attributes of spans.
    public init(
        sinks: [any SpanSink], now: @escaping @Sendable () -> Timestamp, redactor: Redactor = Redactor()
    ) {
        self.sinks = sinks
        self.now = now
        self.redactor = redactor
    }

    /// Runs the work inside a span whose context the work finds in `TraceContext.current`.
    public func span<Result: Sendable>(
        _ name: String, feature: @autoclosure () -> String, attributes: JSONObject = [:],
        isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Result
    ) async rethrows -> Result {
        if sinks.isEmpty { return try await work() }
        return try await span(name, feature: feature(), attributes: attributes, isolation: isolation) { _ in
            try await work()
        }
    }

    /// Runs the work inside a span, and lets it add attributes.
    public func span<Result: Sendable>(
        _ name: String, feature: String, attributes: JSONObject = [:], isolation: isolated (any Actor)? = #isolation,
        _ work: (SpanNotes) async throws -> Result
    ) async rethrows -> Result {
        let notes = SpanNotes(attributes)
        if sinks.isEmpty { return try await work(notes) }
        var generator = SystemRandomNumberGenerator()
        let outer = TraceContext.current
        let context = TraceContext(
            trace: outer?.trace ?? TraceID(using: &generator), span: SpanID(using: &generator),
            isSampled: outer?.isSampled ?? true)
        let start = now()
        func end(_ failure: String?) {
            let span = TraceSpan(
                name: name, feature: feature, context: context, parent: outer?.span, start: start, end: now(),
                attributes: redactor.redact(notes.attributes), failure: failure)
            for sink in sinks { sink.record(span) }
        }
        do {
            let result = try await TraceContext.$current.withValue(
                context, operation: { try await work(notes) }, isolation: isolation)
            end(nil)
            return result
        } catch {
            end(AnyFailure(error).code)
            throw error
        }
    }
}

/// The attributes of a span whose work is still running.
public final class SpanNotes: Sendable {
    private let noted: Mutex<JSONObject>

    init(_ attributes: JSONObject) {
        noted = Mutex(attributes)
    }

    /// Adds an attribute; the last value for a name counts.
    public func note(_ name: String, _ value: JSON) {
        noted.withLock { $0[name] = value }
    }

    var attributes: JSONObject { noted.withLock { $0 } }
}

/// A finished piece of work: what it was, when it ran, and how it ended.
public struct TraceSpan: Sendable {
    /// The kind of work, such as `gateway.turn`.
    public let name: String
    /// The feature that did the work.
    public let feature: String
    /// The trace that it belongs to, and its own id.
    public let context: TraceContext
    /// The span around it; nil for the first span of a trace.
    public let parent: SpanID?
    /// When the work began.
    public let start: Timestamp
    /// When the work returned or threw.
    public let end: Timestamp
    /// Facts about the work, already without secrets.
    public let attributes: JSONObject
    /// The code of the error that ended it, if any.
    public let failure: String?

    /// By default the work succeeded and has no attributes.
    public init(
        name: String, feature: String, context: TraceContext, parent: SpanID?, start: Timestamp, end: Timestamp,
        attributes: JSONObject = [:], failure: String? = nil
    ) {
        self.name = name
        self.feature = feature
        self.context = context
        self.parent = parent
        self.start = start
        self.end = end
        self.attributes = attributes
        self.failure = failure
    }
}

/// Receives finished spans. It must not block, because it is called where the work runs.
public protocol SpanSink: AnyObject, Sendable {
    /// Called once for each span, after its work has ended.
    func record(_ span: TraceSpan)
}

/// The position of the present work in a trace: the W3C `traceparent`, stored in a task-local.
public struct TraceContext: Sendable, Hashable {
    /// Shared by all spans that belong together, also in other programs.
    public let trace: TraceID
    /// The span that the work runs in; spans inside it become its children.
    public let span: SpanID
    /// Whether the trace is marked as recorded, which `traceparent` passes on.
    public let isSampled: Bool

    /// By default the trace is marked as recorded.
    public init(trace: TraceID, span: SpanID, isSampled: Bool = true) {
        self.trace = trace
        self.span = span
        self.isSampled = isSampled
    }

    /// The context of the running task, if it is traced.
    @TaskLocal public static var current: TraceContext?

    /// The header value.
    public var traceparent: String { "00-\(trace)-\(span)-\(isSampled ? "01" : "00")" }

    /// Reads a header value; nil if it is not valid according to the W3C rules.
    public init?(traceparent: String) {
        let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
        // A later version may have more parts; they are ignored.
        guard parts.count >= 4, parts[0].utf8.count == 2, let version = UInt64(lowerHex: parts[0]),
            version != 0xFF, version != 0 || parts.count == 4,
            let trace = TraceID(hex: parts[1]), let span = SpanID(hex: parts[2]),
            parts[3].utf8.count == 2, let flags = UInt64(lowerHex: parts[3])
        else { return nil }
        self.init(trace: trace, span: span, isSampled: flags & 1 == 1)
    }
}

/// A trace id of sixteen bytes.
public struct TraceID: Sendable, Hashable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// A new id; the standard does not allow zero.
    public init(using generator: inout some RandomNumberGenerator) {
        high = generator.next()
        low = generator.next() | 1
    }

    init?(hex: Substring) {
        guard hex.utf8.count == 32, let high = UInt64(lowerHex: hex.prefix(16)),
            let low = UInt64(lowerHex: hex.suffix(16)), high | low != 0
        else { return nil }
        (self.high, self.low) = (high, low)
    }

    public var description: String { Hexadecimal.digits(of: high) + Hexadecimal.digits(of: low) }
}

/// A span id of eight bytes.
public struct SpanID: Sendable, Hashable, CustomStringConvertible {
    private let value: UInt64

    /// A new id; the standard does not allow zero.
    public init(using generator: inout some RandomNumberGenerator) {
        value = generator.next() | 1
    }

    init?(hex: Substring) {
        guard hex.utf8.count == 16, let value = UInt64(lowerHex: hex), value != 0 else { return nil }
        self.value = value
    }

    public var description: String { Hexadecimal.digits(of: value) }
}

extension UInt64 {
    /// The standard allows only lower-case digits, and no sign.
    fileprivate init?(lowerHex text: Substring) {
        guard text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else { return nil }
        self.init(text, radix: 16)
    }
}
