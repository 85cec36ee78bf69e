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
