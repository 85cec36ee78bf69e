import Capabilities
import JSON

/// A request by HTTP, or the stream of events that answers one, as its span tells of it.
struct SeenRequest: Sendable {
    let span: TraceSpan
    /// The program; empty if that is not known.
    let service: String

    init(_ span: TraceSpan, of service: String) { (self.span, self.service) = (span, service) }

    /// Whether it is the stream of events that a request is answered with, not the request.
    var isStream: Bool { span.name == "stream" }

    /// Whether it came to the program, or went from it to a server.
    var isIncoming: Bool { span.kind == .server }

    var method: String? { text(.httpMethod) }

    /// The path without what may be secret in it. Other programs may have named the span after it.
    var path: String? { text(.httpRoute) ?? text(.urlTemplate) ?? text("url.path") }

    /// The server that it went to, with its port.
    var server: String? {
        guard let host = text(.serverAddress) else { return nil }
        let name = host.contains(":") ? "[\(host)]" : host
        return span.attributes["\(SpanKey.serverPort)"]?.int.map { "\(name):\($0)" } ?? name
    }

    var status: Int? { span.attributes["\(SpanKey.httpStatus)"]?.int }

    /// The events of the stream, or of the stream that a request of a client was answered with.
    var events: Int? { span.attributes["\(SpanKey.streamEvents)"]?.int }

    var eventsPerSecond: Double? {
        guard let events, span.duration > .zero else { return nil }
        return (Double(events) / (span.duration / .seconds(1)) * 10).rounded() / 10
    }

    /// How much it matters: a server that fails matters more than a request that it refuses.
    var level: LogLevel {
        if let status { return status >= 500 ? .error : status >= 400 ? .warning : usual }
        return usual
    }

    private var usual: LogLevel { LogRecord(span).level }

    /// A fact about it; a route that does not exist is empty.
    func text(_ key: SpanKey) -> String? {
        span.attributes["\(key)"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// A request in a list.
struct RequestRow: Record {
    let request: SeenRequest

    init(_ request: SeenRequest) { self.request = request }

    static let fields: [Field<RequestRow>] = [
        Field("time", "When it began") { $0.request.span.start },
        Field("method", "Its method, or stream for the events that answer a request") { row in
            row.request.isStream ? "stream" : row.request.method.map { PlainText.escape($0, limit: 20) }
        },
        Field("path", "Path without ids and the like", .name) { row in
            row.request.path.map { PlainText.escape($0, limit: 200) }
        },
        Field("status", "Status of the answer") { $0.request.status },
        Field("duration", "How long it took: for a stream until its end, else until the answer began or was there") {
            $0.request.span.duration
        },
        Field("level", "debug, info, warning or error", .state) { $0.request.level.rawValue },
        Field("scope", "Feature or library that sent or took it") {
            PlainText.escape($0.request.span.feature, limit: 100)
        },
        Field("direction", "in or out") { $0.request.isIncoming ? "in" : "out" },
        Field("events_per_second", "Events of the stream in a second") { $0.request.eventsPerSecond },
        Field("server", "Server it went to", .minor) { row in
            row.request.server.map { PlainText.escape($0, limit: 200) }
        },
        Field("error", "Code of the error that ended it") { row in
            row.request.span.failure.map { PlainText.escape($0, limit: 200) }
        },
        Field("service", "Program", .minor) { PlainText.escape($0.request.service, limit: 100) },
        Field("events", "Number of events of the stream", .detail) { $0.request.events },
        Field("trace", "Id of the trace", .detail) { $0.request.span.context.trace.description },
        Field("span", "Id of the span", .detail) { $0.request.span.context.span.description },
    ]
}
