/// The position of the present work in a trace: the W3C `traceparent`, stored in a task-local.
public struct TraceContext: Sendable, Hashable {
    /// Shared by all spans that belong together, also in other programs.
    public let trace: TraceID
    /// The span that the work runs in; spans inside it become its children.
    public let span: SpanID
    /// Whether the trace is recorded, which `traceparent` passes on.
    public let isSampled: Bool
    /// What other programs have added for themselves, which is passed on as it is: `tracestate`.
    public let state: String?
    /// Whether the span is one of another program.
    let isRemote: Bool
    /// Where the spans of a trace that is not recorded wait for its end in this process.
    let held: HeldTrace?
    /// What records the span, and those in it.
    let pipe: SpanPipe?

    /// By default the trace is recorded.
    public init(trace: TraceID, span: SpanID, isSampled: Bool = true, state: String? = nil) {
        self.init(trace: trace, span: span, isSampled: isSampled, state: state, isRemote: false, held: nil, pipe: nil)
    }

    init(
        trace: TraceID, span: SpanID, isSampled: Bool, state: String?, isRemote: Bool, held: HeldTrace?, pipe: SpanPipe?
    ) {
        (self.trace, self.span, self.isSampled, self.state) = (trace, span, isSampled, state)
        (self.isRemote, self.held, self.pipe) = (isRemote, held, pipe)
    }

    /// The same without what it needs while the work runs, so that a copy keeps nothing else alive.
    var ids: TraceContext { TraceContext(trace: trace, span: span, isSampled: isSampled, state: state) }

    public static func == (left: TraceContext, right: TraceContext) -> Bool {
        left.trace == right.trace && left.span == right.span && left.isSampled == right.isSampled
            && left.state == right.state
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(span) }

    /// The context of the running task, if it is traced.
    @TaskLocal public static var current: TraceContext?

    /// The context that another program has left in a set of values, such as the environment or the `_meta` of a request:
    /// `traceparent` and `tracestate`, in capitals for the environment. Nil if there is none that is valid.
    public init?(in values: (String) -> String?) {
        guard let parent = values("traceparent") else { return nil }
        self.init(traceparent: parent, tracestate: values("tracestate"))
    }

    /// The header value.
    public var traceparent: String { "00-\(trace)-\(span)-\(isSampled ? "01" : "00")" }

    /// The longest `tracestate` that is passed on, in bytes, and the most members.
    private static let mostState = (bytes: 512, members: 32)

    /// Reads the values of the headers; nil if `traceparent` is not valid according to the W3C rules. A `tracestate` that
    /// is too long is left out.
    public init?(traceparent: String, tracestate: String? = nil) {
        let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
        // A later version may have more parts; they are ignored.
        guard parts.count >= 4, parts[0].utf8.count == 2, let version = UInt64(lowerHex: parts[0]),
            version != 0xFF, version != 0 || parts.count == 4,
            let trace = TraceID(hex: parts[1]), let span = SpanID(hex: parts[2]),
            parts[3].utf8.count == 2, let flags = UInt64(lowerHex: parts[3])
        else { return nil }
        let usable = tracestate.flatMap { state in
            let isShort = state.utf8.count <= Self.mostState.bytes
            let isPlain = state.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            return isShort && isPlain && !state.isEmpty && state.count { $0 == "," } < Self.mostState.members
                ? state : nil
        }
        self.init(
            trace: trace, span: span, isSampled: flags & 1 == 1, state: usable, isRemote: true, held: nil,
            pipe: nil)
    }

    /// The same for the environment of a program, from where it can be read again by `init(in:)`.
    ///
    /// - Parameter withState: whether the program also learns what other programs have added.
    public func variables(withState: Bool) -> [String: String] {
        var variables = ["TRACEPARENT": traceparent]
        if withState { variables["TRACESTATE"] = state }
        return variables
    }
}

/// A trace id of sixteen bytes.
public struct TraceID: Sendable, Hashable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    /// A new id; the standard does not allow zero.
    public init(using generator: inout some RandomNumberGenerator) {
        self.init(high: generator.next(), low: generator.next())
    }

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low == 0 ? 1 : low) }

    /// The id of these two halves, of which the first has the first eight bytes; nil for zero, which is no id.
    public init?(words: (UInt64, UInt64)) {
        guard words.0 | words.1 != 0 else { return nil }
        (high, low) = words
    }

    /// The same as two halves, so that it can be written without memory.
    public var words: (UInt64, UInt64) { (high, low) }

    /// The same as 16 bytes.
    public var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }

    /// Half of the id, which is as good as random.
    var half: UInt64 { low }

    /// The id of these 16 bytes; nil for another number of them, and for zero.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(words: (UInt64(bigEndian: bytes[..<8]), UInt64(bigEndian: bytes[8...])))
    }

    /// The id with these 32 lower-case digits; nil for zero and for anything else.
    public init?(hex: some StringProtocol) {
        let hex = Substring(hex)
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
        self.init(generator.next())
    }

    init(_ value: UInt64) { self.value = value == 0 ? 1 : value }

    /// The id with this number; nil for zero, which is no id.
    public init?(word: UInt64) {
        guard word != 0 else { return nil }
        value = word
    }

    /// The same as a number, so that it can be written without memory.
    public var word: UInt64 { value }

    /// The same as 8 bytes.
    public var bytes: [UInt8] { value.bigEndianBytes }

    /// The id of these 8 bytes; nil for another number of them, and for zero.
    public init?(bytes: [UInt8]) {
        guard bytes.count == 8 else { return nil }
        self.init(word: UInt64(bigEndian: bytes[...]))
    }

    /// The id with these 16 lower-case digits; nil for zero and for anything else.
    public init?(hex: some StringProtocol) {
        let hex = Substring(hex)
        guard hex.utf8.count == 16, let value = UInt64(lowerHex: hex), value != 0 else { return nil }
        self.value = value
    }

    public var description: String { Hexadecimal.digits(of: value) }
}

extension UInt64 {
    fileprivate var bigEndianBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * $0)) } }

    fileprivate init(bigEndian bytes: ArraySlice<UInt8>) { self = bytes.reduce(0) { $0 << 8 | UInt64($1) } }

    /// The standard allows only lower-case digits, and no sign.
    fileprivate init?(lowerHex text: Substring) {
        guard text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else { return nil }
        self.init(text, radix: 16)
    }
}
