import Capabilities
import HTTPCore
import JSON
import Synchronization

/// What is told of a request when its answer has ended. An object, since a stream keeps it for as long as it lasts.
final class Observation: Sendable {
    /// Where in a trace the work for the request belongs.
    let context: TraceContext
    fileprivate let parent: SpanID?
    fileprivate let start: Timestamp?
    fileprivate let method: HTTPMethod
    fileprivate let id: String

    fileprivate init(_ request: ServerRequest, _ context: TraceContext, parent: SpanID? = nil, start: Timestamp? = nil)
    {
        self.context = context
        self.parent = parent
        self.start = start
        method = request.method
        id = request.id
    }
}

extension ServerCore {
    /// Nil where nobody wants to know of the request, and its handler has no caller to name.
    @inline(never)
    func observe(_ request: ServerRequest) -> Observation? {
        let remote = request.headers["traceparent"].flatMap(TraceContext.init(traceparent:))
        if configuration.spans.isEmpty { return remote.map { Observation(request, $0) } }
        var generator = SystemRandomNumberGenerator()
        let outer = remote ?? TraceContext.current
        let context = TraceContext(
            trace: outer?.trace ?? TraceID(using: &generator), span: SpanID(using: &generator),
            isSampled: outer?.isSampled ?? true)
        return Observation(request, context, parent: outer?.span, start: configuration.now())
    }

    /// Tells what became of a request.
    @inline(never)
    func record(_ exchange: Connection.Exchange, of peer: PeerAddress, _ error: (any Error)?) {
        guard let observation = exchange.observation, let start = observation.start else { return }
        // The path itself and its query may hold what should not be kept; the template cannot.
        var attributes: JSONObject = [
            "method": .string(observation.method.rawValue), "route": .string(exchange.route?.route.template ?? ""),
            "request": .string(observation.id), "peer": .string(peer.description),
            "bytes": .int(exchange.written),
        ]
        if let status = exchange.status { attributes["status"] = .int(status.code) }
        let cause = error ?? exchange.problem
        if let cause, !(cause is any Failure) { attributes["error"] = .string(String(describing: cause)) }
        let span = Span(
            name: "http.serve", feature: "http", context: observation.context, parent: observation.parent,
            start: start, end: configuration.now(), attributes: configuration.redactor.redact(attributes),
            failure: cause.map { AnyFailure($0).code })
        for sink in configuration.spans { sink.record(span) }
    }
}
