public import JSON
import Synchronization

/// Opens spans around work and gives them to every sink. Without a sink it costs a branch.
public struct Tracer: Sendable {
    private let sinks: [any SpanSink]
    private let now: @Sendable () -> Timestamp
    private let redactor: Redactor

    /// - Parameter redactor: takes secrets out of what is noted of a span.
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

    /// Runs the work inside a span, and lets it note what it learns on the way.
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

/// The attributes of a span whose work is still being done.
public final class SpanNotes: Sendable {
    private let noted: Mutex<JSONObject>

    init(_ attributes: JSONObject) {
        noted = Mutex(attributes)
    }

    /// Notes a fact; the last one of a name counts.
    public func note(_ name: String, _ value: JSON) {
        noted.withLock { $0[name] = value }
    }

    var attributes: JSONObject { noted.withLock { $0 } }
}

/// A piece of work that has ended: what it was, when, and how it went.
public struct TraceSpan: Sendable {
    public let name: String
    /// The feature whose work it was.
    public let feature: String
    public let context: TraceContext
    public let parent: SpanID?
    public let start: Timestamp
    public let end: Timestamp
    public let attributes: JSONObject
    /// The code of the error that ended it, if one did.
    public let failure: String?

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

/// Takes the spans that have ended. It must not wait: it is called where the work is done.
public protocol SpanSink: AnyObject, Sendable {
    func record(_ span: TraceSpan)
}

/// Where in a trace the present work belongs: the W3C `traceparent`, kept in a task-local.
public struct TraceContext: Sendable, Hashable {
    public let trace: TraceID
    public let span: SpanID
    public let isSampled: Bool

    public init(trace: TraceID, span: SpanID, isSampled: Bool = true) {
        self.trace = trace
        self.span = span
        self.isSampled = isSampled
    }

    /// The context of the running task, if it is traced.
    @TaskLocal public static var current: TraceContext?

    /// The header value, as other programs read it.
    public var traceparent: String { "00-\(trace)-\(span)-\(isSampled ? "01" : "00")" }

    /// Reads a header value; nil when it is not valid by the W3C rules.
    public init?(traceparent: String) {
        let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
        // A later version may have more parts, and what it adds is not for us.
        guard parts.count >= 4, parts[0].utf8.count == 2, let version = UInt64(lowerHex: parts[0]),
            version != 0xFF, version != 0 || parts.count == 4,
            let trace = TraceID(hex: parts[1]), let span = SpanID(hex: parts[2]),
            parts[3].utf8.count == 2, let flags = UInt64(lowerHex: parts[3])
        else { return nil }
        self.init(trace: trace, span: span, isSampled: flags & 1 == 1)
    }
}

/// Sixteen bytes that name a trace.
public struct TraceID: Sendable, Hashable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// A new id; zero is not allowed by the standard.
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

    public var description: String { high.hex + low.hex }
}

/// Eight bytes that name a span.
public struct SpanID: Sendable, Hashable, CustomStringConvertible {
    private let value: UInt64

    /// A new id; zero is not allowed by the standard.
    public init(using generator: inout some RandomNumberGenerator) {
        value = generator.next() | 1
    }

    init?(hex: Substring) {
        guard hex.utf8.count == 16, let value = UInt64(lowerHex: hex), value != 0 else { return nil }
        self.value = value
    }

    public var description: String { value.hex }
}

extension UInt64 {
    fileprivate var hex: String {
        let digits = String(self, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// The standard allows lower-case digits only, and no sign.
    fileprivate init?(lowerHex text: Substring) {
        guard text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else { return nil }
        self.init(text, radix: 16)
    }
}
