public import Capabilities
public import HTTPCore
public import JSON

/// The settings of a server besides its routes.
public struct ServerConfiguration: Sendable {
    /// Where the server listens; by default at a port of 127.0.0.1 that the system chooses.
    public var addresses: [ListenAddress] = [.loopback()]
    /// The time and size limits for clients.
    public var limits = ServerLimits()
    /// Additional host names for clients, besides the loopback names and the listen address.
    public var hosts: Set<String> = []
    /// The web pages that may use it; nil for only its own.
    public var crossOrigin: CrossOriginRules?
    /// Authenticates the client from the request head; if it returns nil, every route that is not open responds with
    /// 401. Without an authenticator there is no authentication.
    public var authenticate: (@Sendable (HTTPRequestHead) async throws -> Principal?)?
    /// Builds the body of every error response.
    public var envelope: @Sendable (ProblemReport) -> JSON = { $0.json }
    /// The status for failures of other packages; nil for the default of their exit code.
    public var status: @Sendable (any Failure) -> HTTPStatus? = { _ in nil }
    /// Headers that carry the request id in every response. Error responses always have `X-Request-ID`.
    public var requestIDHeaders: [String] = []
    /// Records a span for each request.
    public var tracer = Tracer(sinks: [], now: Timestamp.now)

    /// A server on the loopback address, without authentication.
    public init() {}
}

/// The problem of a request, for the envelope.
public struct ProblemReport: Sendable {
    /// The status of the response.
    public let status: HTTPStatus
    /// The stable dotted code of the problem.
    public let code: String
    /// What happened and what to do next.
    public let message: String
    /// All invalid input values; empty if the problem is another one.
    public let inputs: [InputProblem]
    /// The id of the request, as in spans and logs.
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

/// The time and size limits of a server for its clients.
public struct ServerLimits: Sendable {
    /// For a head, from its first byte.
    public var head: Duration = .seconds(10)
    /// Between two requests on a connection.
    public var idle: Duration = .seconds(75)
    /// Without progress, while a body is read or a response is written.
    public var stall: Duration = .seconds(30)
    /// The minimum average bytes per second of a body, after `stall`: otherwise a client that sends a byte now and then
    /// would hold a handler forever.
    public var bodyPace = 1 << 10
    /// For running handlers after the shutdown began; then they are cancelled.
    public var drain: Duration = .seconds(10)
    /// Between two heartbeats in a silent event stream.
    public var heartbeat: Duration = .seconds(15)
    /// The largest body, unless the route sets a limit.
    public var body = 16 << 20
    /// How much of an unread body is discarded to keep the connection.
    public var discarded = 256 << 10
    /// The largest head; its address may use half of that.
    public var headSize = 16 << 10
    /// Open connections at the same time. A client beyond that gets a 503 at once.
    public var connections = 10_000
    /// Nil for no separate limit; clients of a loopback all have one address.
    public var connectionsPerPeer: Int?
    /// Requests answered at the same time, including streams.
    public var handlers = 8_000

    /// The default limits.
    public init() {}

    var parsing: RequestParser.Limits {
        var limits = RequestParser.Limits()
        limits.head = headSize
        limits.target = headSize / 2
        return limits
    }
}
