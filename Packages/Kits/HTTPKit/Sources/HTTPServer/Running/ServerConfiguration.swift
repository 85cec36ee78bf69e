public import Capabilities
import Glibc
public import HTTPCore
public import JSON

/// What a server is told besides its routes.
public struct ServerConfiguration: Sendable {
    public var addresses: [ListenAddress] = [.loopback()]
    public var limits = ServerLimits()
    /// Names that clients may call the server by, besides those of the loopback and the address it listens at.
    public var hosts: Set<String> = []
    /// Which web pages may use it; nil for none but its own.
    public var crossOrigin: CrossOriginRules?
    /// Recognises who asks, from the head alone; nil means nobody, and every route but an open one answers 401.
    /// Without it nobody is asked.
    public var authenticate: (@Sendable (HTTPRequestHead) async throws -> Principal?)?
    /// The body of every answer that is no success.
    public var envelope: @Sendable (ProblemReport) -> JSON = { $0.json }
    /// The status for failures of other packages; nil for the usual one of their exit code.
    public var status: @Sendable (any Failure) -> HTTPStatus? = { _ in nil }
    /// Headers with which every answer tells the id of its request. One that is no success tells it as `X-Request-ID` anyhow.
    public var requestIDHeaders: [String] = []
    /// Where a span for each request goes.
    public var spans: [any SpanSink] = []
    /// Takes secrets out of the spans.
    public var redactor = Redactor()
    public var now: @Sendable () -> Timestamp = { .now }

    public init() {}
}

/// What went wrong with a request, for the envelope.
public struct ProblemReport: Sendable {
    public let status: HTTPStatus
    public let code: String
    public let message: String
    public let inputs: [InputProblem]
    public let requestID: String
    /// Facts of the failure for programs.
    public let details: JSONObject

    /// `{"error":{"code","message","status","request_id","inputs":[{"place","name","message"}]}}`
    public var json: JSON {
        var error: JSONObject = [
            "code": .string(code), "message": .string(message), "status": .int(status.code),
            "request_id": .string(requestID),
        ]
        if !inputs.isEmpty {
            error["inputs"] = .array(
                inputs.map { input in
                    [
                        "place": .string(input.place), "name": .string(input.name), "message": .string(input.message),
                    ]
                })
        }
        return ["error": .object(error)]
    }

    /// The shape of `json`, for documents.
    static let schema = Schema.record([
        Schema.Property(
            "error", "What went wrong",
            .record([
                Schema.Property("code", "A stable dotted code", .string),
                Schema.Property("message", "What happened and what to do next", .string),
                Schema.Property("status", "The HTTP status of the response", .integer(nil)),
                Schema.Property("request_id", "The id of the request in the logs", .string),
                Schema.Property(
                    "inputs", "All invalid values",
                    .optional(
                        .array(
                            .record([
                                Schema.Property("place", "path, query, header or body", .string),
                                Schema.Property("name", "The name of the value", .string),
                                Schema.Property("message", "What is wrong with it", .string),
                            ])))),
            ]))
    ])
}

/// How long and how much a server lets a client take.
public struct ServerLimits: Sendable {
    /// For a head, from its first byte on.
    public var head: Duration = .seconds(10)
    /// Between two requests of a connection.
    public var idle: Duration = .seconds(75)
    /// Without any progress, while a body is read or an answer is written.
    public var stall: Duration = .seconds(30)
    /// How many bytes of a body have to come in a second on average, once `stall` is over: who sends a byte now and then
    /// would hold a handler for ever.
    public var bodyPace = 1 << 10
    /// For running handlers, once the server ends; then they are cancelled.
    public var drain: Duration = .seconds(10)
    /// Between two signs of life in a silent event stream.
    public var heartbeat: Duration = .seconds(15)
    /// The largest body that is read, where the route says nothing else.
    public var body = 16 << 20
    /// How much of an unwanted body is read only to keep the connection.
    public var discarded = 256 << 10
    /// The largest head; the address in it may have half of that.
    public var headSize = 16 << 10
    public var connections = 10_000
    /// Nil for as many as there may be at all; clients of a loopback all have one address.
    public var connectionsPerPeer: Int?
    /// Requests that are being answered at the same time, streams among them.
    public var handlers = 8_000

    public init() {}

    var parsing: RequestParser.Limits {
        var limits = RequestParser.Limits()
        limits.head = headSize
        limits.target = headSize / 2
        return limits
    }
}

extension Timestamp {
    /// The present by the system's clock.
    static var now: Timestamp {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}
