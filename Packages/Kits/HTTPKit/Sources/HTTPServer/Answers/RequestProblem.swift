public import Capabilities
public import HTTPCore
public import JSON

/// An error response with a certain status; handlers throw it.
///
/// ```swift
/// throw RequestProblem.notFound("there is no project '\(id)'; GET /v1/projects lists them")
/// ```
public struct RequestProblem: Failure {
    /// The status of the response.
    public var status: HTTPStatus
    public let code: String
    public let message: String
    /// All invalid input values of the request.
    public var inputs: [InputProblem]
    /// Header lines of the response, such as `Retry-After`.
    public var headers: HTTPHeaders

    /// - Parameter code: the stable dotted code in the response, such as `server.not-found`.
    public init(
        _ status: HTTPStatus, code: String, _ message: String, inputs: [InputProblem] = [],
        headers: HTTPHeaders = HTTPHeaders()
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.inputs = inputs
        self.headers = headers
    }

    public var details: JSONObject { ["status": .int(status.code)] }

    /// 400, `server.bad-request`.
    public static func badRequest(_ message: String) -> RequestProblem {
        RequestProblem(.badRequest, code: "server.bad-request", message)
    }

    /// 401, `server.unauthorized`, with a `WWW-Authenticate` line that asks for a bearer token.
    public static func unauthorized(_ message: String) -> RequestProblem {
        RequestProblem(
            .unauthorized, code: "server.unauthorized", message, headers: ["WWW-Authenticate": "Bearer"])
    }

    /// 403, `server.forbidden`.
    public static func forbidden(_ message: String) -> RequestProblem {
        RequestProblem(.forbidden, code: "server.forbidden", message)
    }

    /// 404, `server.not-found`.
    public static func notFound(_ message: String) -> RequestProblem {
        RequestProblem(.notFound, code: "server.not-found", message)
    }

    /// 409, `server.conflict`.
    public static func conflict(_ message: String) -> RequestProblem {
        RequestProblem(.conflict, code: "server.conflict", message)
    }

    /// 503, `server.unavailable`, with a `Retry-After` line in seconds.
    public static func unavailable(_ message: String, retryAfter seconds: Int) -> RequestProblem {
        RequestProblem(
            .serviceUnavailable, code: "server.unavailable", message, headers: ["Retry-After": "\(seconds)"])
    }

    private static let inputsCode = "server.inputs"

    /// Whether it reports invalid input values.
    var isAboutInputs: Bool { code == Self.inputsCode }

    static func inputs(_ problems: [InputProblem]) -> RequestProblem {
        let words = problems.map { problem in
            problem.name.isEmpty ? "the \(problem.place) \(problem.message)" : "\(problem.name) \(problem.message)"
        }
        return RequestProblem(
            .unprocessable, code: inputsCode, words.joined(separator: "; "), inputs: problems)
    }
}

/// An input value that does not match its declaration.
public struct InputProblem: Sendable, Hashable {
    /// The source of the value: `path`, `query`, `header` or `body`.
    public let place: String
    /// The name; in a body, the path of members and indices: `messages.0.role`.
    public let name: String
    /// What is wrong, as the end of a sentence that starts with the name.
    public let message: String

    /// - Parameter message: completes a sentence that begins with the name.
    public init(place: String, name: String, message: String) {
        self.place = place
        self.name = name
        self.message = message
    }
}
