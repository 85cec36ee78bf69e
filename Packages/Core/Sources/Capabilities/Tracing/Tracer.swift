public import JSON

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
