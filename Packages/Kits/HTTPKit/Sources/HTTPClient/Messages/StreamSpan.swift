import Capabilities

/// The span of the events of one response: from the first read until the reader is released.
///
/// The span of the request ends with the head of its response, which a stream may outlast by an hour.
final class StreamSpan {
    private let tracer: Tracer
    private let span: SpanRecord
    private var events = 0
    private var failure: String?

    /// Nil if nothing is recorded.
    init?(of url: HTTPURL) {
        let tracer = Tracer.current
        guard let span = tracer.begin("stream", .client, of: "http") else { return nil }
        (self.tracer, self.span) = (tracer, span)
        for (key, value) in url.facts { span.set(key, value) }
    }

    func count(_ events: Int) { self.events += events }

    func fail(_ error: any Error) { failure = AnyFailure(error).code }

    deinit {
        span.set(.streamEvents, .int(events))
        tracer.end(span, failure: failure)
    }
}
