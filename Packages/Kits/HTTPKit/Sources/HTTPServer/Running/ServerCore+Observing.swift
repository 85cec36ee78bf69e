import Capabilities
import HTTPCore
import JSON
import Synchronization

extension ServerCore {
    /// Whether somebody wants to know of the request, or its handler has a caller to name.
    @inline(never)
    func isObserved(_ request: ServerRequest) -> Bool {
        !configuration.spans.isEmpty || request.headers["traceparent"] != nil
    }

    /// Runs the work for a request inside a span that tells what became of it.
    @inline(never)
    nonisolated(nonsending) func observed(
        _ request: ServerRequest, _ work: () async throws -> Bool
    ) async throws -> Bool {
        let remote = request.headers["traceparent"].flatMap(TraceContext.init(traceparent:))
        if configuration.spans.isEmpty {
            return try await TraceContext.$current.withValue(remote) { try await work() }
        }
        var generator = SystemRandomNumberGenerator()
        let outer = remote ?? TraceContext.current
        let context = TraceContext(
            trace: outer?.trace ?? TraceID(using: &generator), span: SpanID(using: &generator),
            isSampled: outer?.isSampled ?? true)
        let start = configuration.now()
        do {
            let result = try await TraceContext.$current.withValue(context) { try await work() }
            record(request, context, outer?.span, start, nil)
            return result
        } catch {
            record(request, context, outer?.span, start, error)
            throw error
        }
    }

    private func record(
        _ request: ServerRequest, _ context: TraceContext, _ parent: SpanID?, _ start: Timestamp,
        _ error: (any Error)?
    ) {
        let exchange = request.connection.state.withLock { $0.exchange }
        // The path itself and its query may hold what should not be kept; the template cannot.
        var attributes: JSONObject = [
            "method": .string(request.method.rawValue), "route": .string(exchange.route?.route.template ?? ""),
            "request": .string(request.id), "peer": .string(request.peer.description),
            "bytes": .int(exchange.written),
        ]
        if let status = exchange.status { attributes["status"] = .int(status.code) }
        let cause = error ?? exchange.problem
        if let cause, !(cause is any Failure) { attributes["error"] = .string(String(describing: cause)) }
        let span = Span(
            name: "http.serve", feature: "http", context: context, parent: parent, start: start,
            end: configuration.now(), attributes: attributes, failure: cause.map { AnyFailure($0).code })
        for sink in configuration.spans { sink.record(span) }
    }
}
