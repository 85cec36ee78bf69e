import JSON
import Synchronization

/// Begins and ends the spans of one tracer.
@usableFromInline
final class SpanPipe: Sendable {
    private let sinks: [any SpanSink]
    private let counters: [any SpanSink]
    private let logs: [any SpanSink]
    /// Whether a sink wants the spans of what is done in a request, and not only those that begin here.
    private let looksInside: Bool
    private let now: @Sendable () -> Timestamp
    private let ticks: (@Sendable () -> Int64)?
    private let sampling: TraceSampling
    private let ids = SpanIDs()

    init(
        _ sinks: [any SpanSink], now: @escaping @Sendable () -> Timestamp, sampling: TraceSampling,
        ticks: (@Sendable () -> Int64)?
    ) {
        self.sinks = sinks.filter { !$0.countsAll }
        counters = sinks.filter(\.countsAll)
        logs = sinks.filter { $0.levels != nil }
        looksInside = !self.sinks.isEmpty || !logs.isEmpty
        self.now = now
        self.sampling = sampling
        self.ticks = ticks
    }

    @usableFromInline
    func begin(_ name: String, _ kind: SpanRecord.Kind, _ scope: String, under outer: TraceContext?) -> SpanRecord {
        let trace = outer?.trace ?? ids.trace()
        let isSampled = outer?.isSampled ?? sampling.includes(trace)
        // Of a trace that is not recorded all spans wait until its work here has ended, and may be worth it.
        let held = isSampled || sinks.isEmpty ? nil : outer?.held ?? HeldTrace()
        let context = TraceContext(
            trace: trace, span: ids.span(), isSampled: isSampled, state: outer?.state, isRemote: false, held: held,
            // What only counts requests gains nothing from what kits do in them.
            pipe: looksInside ? self : nil)
        return SpanRecord(name, kind, scope, context, under: outer, start: now(), ticks: ticks)
    }

    @usableFromInline
    func end(_ span: SpanRecord, _ failure: String?) {
        guard span.end(failure) else { return }
        for counter in counters { counter.record(span) }
        guard let held = span.context.held else { return deliver(span) }
        for span in held.take(span, slow: sampling.slow) { deliver(span) }
    }

    func log(
        _ level: LogLevel, _ scope: String, isTold: Bool, _ message: () -> String, _ attributes: () -> JSONObject
    ) {
        let wanting = logs.filter { $0.levels?.includes(level, of: scope) == true }
        guard !wanting.isEmpty else { return }
        let context = TraceContext.current
        var log = LogRecord(
            level, scope, message(), attributes(), at: now(), trace: context?.trace, span: context?.span)
        log.isTold = isTold
        for sink in wanting { sink.record(log) }
    }

    private func deliver(_ span: SpanRecord) {
        for sink in sinks { sink.record(span) }
    }
}

/// Makes ids: a counter whose numbers are spread over all of them, from where the system says, so that no thread waits for
/// another.
private final class SpanIDs: Sendable {
    private let seeds: (trace: UInt64, span: UInt64)
    private let count = Atomic<UInt64>(0)

    init() {
        var generator = SystemRandomNumberGenerator()
        seeds = (generator.next(), generator.next())
    }

    private func next() -> UInt64 { count.wrappingAdd(1, ordering: .relaxed).newValue }

    func span() -> SpanID { SpanID(Self.spread(seeds.span &+ next() &* 0x9E37_79B9_7F4A_7C15)) }

    func trace() -> TraceID {
        let number = next() &* 0x9E37_79B9_7F4A_7C15
        return TraceID(high: Self.spread(seeds.trace &+ number), low: Self.spread(~seeds.trace &+ number))
    }

    /// The finalizer of SplitMix64, which maps no two numbers to one.
    private static func spread(_ number: UInt64) -> UInt64 {
        var mixed = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
