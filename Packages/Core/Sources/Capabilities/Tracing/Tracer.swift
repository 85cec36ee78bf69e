public import JSON

/// Records spans of work and passes them to all sinks. Without a sink it costs one branch.
///
/// ```swift
/// try await tracer.span("weather.lookup", of: "weather") { span in
///     let answer = try await lookUp(city)
///     span.set("weather.station", answer.station)
///     return answer
/// }
/// ```
public struct Tracer: Sendable {
    @usableFromInline let pipe: SpanPipe?

    /// Whether anything receives the spans.
    package var isRecording: Bool { pipe != nil }

    /// The tracer of the span around the running work, for kits, which are not given one. Outside of a span it records
    /// nothing, so that what a program does for itself begins no traces.
    public static var current: Tracer { Tracer(TraceContext.current?.pipe) }

    private init(_ pipe: SpanPipe?) { self.pipe = pipe }

    /// Whether nothing is recorded in the running task.
    @TaskLocal @usableFromInline static var isMuted = false

    /// Runs work of which no spans are recorded, such as what a screen looks up again and again.
    public static func muted<Result>(
        isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Result
    ) async rethrows -> Result {
        try await TraceContext.$current.withValue(
            nil, operation: { try await $isMuted.withValue(true, operation: work, isolation: isolation) },
            isolation: isolation)
    }

    /// - Parameters:
    ///   - now: the time of day. How long work takes does not depend on it.
    ///   - sampling: which traces that begin here are recorded; nil for what the sinks want.
    ///   - ticks: nanoseconds that never go back; nil for those of the system.
    public init(
        sinks: [any SpanSink], now: @escaping @Sendable () -> Timestamp, sampling: TraceSampling? = nil,
        ticks: (@Sendable () -> Int64)? = nil
    ) {
        let sinks = sinks.filter { $0.sampling != nil }
        pipe =
            sinks.isEmpty
            ? nil : SpanPipe(sinks, now: now, sampling: sampling ?? TraceSampling(of: sinks), ticks: ticks)
    }

    // Inlinable, so that without a sink only the work is called.

    /// Runs the work inside a span, whose context the work finds in `TraceContext.current`, and lets it add facts. Child tasks
    /// and tasks that inherit the context find it too.
    ///
    /// - Parameters:
    ///   - name: the kind of work, such as `gateway.turn`.
    ///   - scope: the feature that does the work.
    @inlinable
    public func span<Result: Sendable>(
        _ name: @autoclosure () -> String, _ kind: SpanRecord.Kind = .internal, of scope: @autoclosure () -> String,
        isolation: isolated (any Actor)? = #isolation, _ work: (ActiveSpan) async throws -> Result
    ) async rethrows -> Result {
        guard let pipe, !Self.isMuted else { return try await work(ActiveSpan(nil)) }
        let span = pipe.begin(name(), kind, scope(), under: TraceContext.current)
        do {
            let result = try await TraceContext.$current.withValue(
                span.context, operation: { try await work(ActiveSpan(span)) }, isolation: isolation)
            pipe.end(span, nil)
            return result
        } catch {
            pipe.end(span, AnyFailure(error).code)
            throw error
        }
    }

    /// Adds an entry to the log, which belongs to the span of the running task. Without a sink that wants it nothing is made.
    ///
    /// - Parameter isTold: whether the person is told the same.
    public func log(
        _ level: LogLevel, of scope: @autoclosure () -> String, isTold: Bool = false,
        _ message: @autoclosure () -> String,
        _ attributes: @autoclosure () -> JSONObject = [:]
    ) {
        if let pipe, !Self.isMuted { pipe.log(level, scope(), isTold: isTold, message, attributes) }
    }

    /// Begins a span whose work does not end where it began, such as that of a request with a stream; nil without a sink.
    /// `end(_:failure:)` ends it.
    ///
    /// - Parameter outer: the span around it, such as that of the client; nil for that of the running task.
    public func begin(
        _ name: String, _ kind: SpanRecord.Kind, of scope: String, under outer: TraceContext? = nil
    ) -> SpanRecord? {
        Self.isMuted ? nil : pipe?.begin(name, kind, scope, under: outer ?? TraceContext.current)
    }

    /// Ends a span, and passes it on.
    ///
    /// - Parameter failure: the code of the error that ended it, if any.
    public func end(_ span: SpanRecord, failure: String?) { pipe?.end(span, failure) }

    /// Ends the span of work that is done so often that only what fails or takes long is worth one; of other work nothing
    /// is recorded.
    public func end(_ span: SpanRecord, failure: String?, ifLongerThan limit: Duration) {
        if failure != nil || span.elapsed > limit { pipe?.end(span, failure) }
    }
}

/// Which traces that begin in this process are recorded. One that another program has begun is recorded if that program says so.
public struct TraceSampling: Sendable {
    /// The part that is recorded, from 0 to 1.
    public let ratio: Double
    /// A trace that takes longer is recorded in any case; nil for no such time. So is one in which something fails.
    public let slow: Duration?

    /// By default everything is recorded.
    public init(ratio: Double = 1, slow: Duration? = nil) {
        self.ratio = ratio
        self.slow = slow
    }

    /// What is enough for each of the sinks that record.
    init(of sinks: [any SpanSink]) {
        let wanted = sinks.filter { !$0.countsAll }.compactMap(\.sampling)
        ratio = wanted.map(\.ratio).max() ?? 1
        slow = wanted.compactMap(\.slow).min()
    }

    func includes(_ trace: TraceID) -> Bool {
        ratio >= 1 || Double(trace.half) < ratio * Double(UInt64.max)
    }
}

/// Receives finished spans. It must not block, because it is called where the work runs.
public protocol SpanSink: AnyObject, Sendable {
    /// Whether it gets the spans of traces that are not recorded too, because it only counts.
    var countsAll: Bool { get }
    /// Which traces it wants; nil for none at all.
    var sampling: TraceSampling? { get }

    /// Which entries of the log it wants; nil for none.
    var levels: LogLevels? { get }

    /// Called once for each span, after its work has ended. Its attributes may contain secrets until they are copied without.
    func record(_ span: SpanRecord)
    /// Called for each entry of the log that it wants. It may contain secrets until it is redacted.
    func record(_ log: LogRecord)
}

extension SpanSink {
    public var countsAll: Bool { false }
    public var sampling: TraceSampling? { TraceSampling() }
    public var levels: LogLevels? { nil }
    public func record(_ log: LogRecord) {}
}

/// The work that runs in a span, for the facts about it. Without a sink nothing is kept.
public struct ActiveSpan: Sendable {
    @usableFromInline let span: SpanRecord?

    @usableFromInline
    init(_ span: SpanRecord?) { self.span = span }

    /// Whether anything is kept, so that what is costly to find out need not be.
    public var isRecording: Bool { span != nil }

    /// Sets an attribute; the last value for a name counts.
    @inlinable
    public func set(_ key: SpanKey, _ value: @autoclosure () -> SpanValue) { span?.set(key, value()) }

    /// Sets an attribute if there is a value.
    @inlinable @_disfavoredOverload
    public func set(_ key: SpanKey, _ value: @autoclosure () -> SpanValue?) {
        if let span, let value = value() { span.set(key, value) }
    }

    /// Adds something that happened.
    @inlinable
    public func happened(_ name: @autoclosure () -> String, _ attributes: @autoclosure () -> [SpanAttribute] = []) {
        span?.add(name(), attributes())
    }

    /// Adds something that happened so long after the beginning of the work.
    @inlinable
    public func happened(
        _ name: @autoclosure () -> String, after time: @autoclosure () -> Duration,
        _ attributes: @autoclosure () -> [SpanAttribute] = []
    ) {
        span?.add(name(), attributes(), after: time())
    }

    /// How long the work has taken so far; zero if nothing is kept.
    public var elapsed: Duration { span?.elapsed ?? .zero }

    /// Marks the work as failed although it returns, such as a tool that says so.
    public func fail(_ code: String) { span?.fail(code) }
}
