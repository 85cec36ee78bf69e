public import Capabilities
public import HTTPCore
public import JSON

/// A route of the server, declared once: the handler's arguments have the types of the inputs, and the OpenAPI document
/// is built from the same declaration.
///
/// ```swift
/// Route(.get, "/v1/projects/{id}/files", "listFiles", "The files of a project",
///     .path("id", "The project"), .query("limit", "Maximum number of files", in: 1...100, default: 20)
/// ) { request, id, limit in
///     try await projects.files(of: id, limit: limit)      // an OutputValue: 200 and JSON
/// }
/// ```
public struct Route: Sendable {
    /// The method that it handles.
    public let method: HTTPMethod
    /// The path with placeholders in braces.
    public let template: String
    /// The operation's id in the OpenAPI document.
    public let id: String
    /// One line, without a final stop.
    public let summary: String
    /// The inputs, in the order of the handler's arguments.
    public let inputs: [RouteInputDeclaration]
    /// The declared success responses.
    public private(set) var answers: [AnswerDeclaration]
    /// The declared error statuses besides the usual ones.
    public private(set) var refusals: [HTTPStatus] = []
    /// The status for invalid input values.
    public private(set) var inputRefusal = HTTPStatus.unprocessable
    /// More than the summary, in Markdown; empty for none.
    public private(set) var details = ""
    /// The group in which documents show it; nil for none.
    public private(set) var tag: String?
    /// Whether the route needs no authentication.
    public private(set) var isOpen = false
    /// The client needs one of these scopes; none if empty.
    public private(set) var scopes: Set<ClientScope> = []
    /// Whether documents omit it.
    public private(set) var isHidden = false
    /// Whether new clients should not use it.
    public private(set) var isDeprecated = false
    /// The largest body; nil for the server's limit.
    public private(set) var bodyLimit: ByteCount?
    /// An example of the request body for documents.
    public private(set) var requestExample: JSON?

    let run: @Sendable (RawInputs) async throws -> HTTPAnswer

    /// The declaration of a response with a certain status.
    public struct AnswerDeclaration: Sendable {
        /// The status that it is for.
        public let status: HTTPStatus
        /// What the response means, in one line.
        public let summary: String
        /// The content type; empty for a response without a body.
        public let type: String
        /// The shape of a JSON body; nil for other types.
        public let schema: Schema?
        /// An example body for documents.
        public var example: JSON?
    }

    /// A route whose handler builds the response itself; `answering` declares it.
    public init<each Value: Sendable>(
        _ method: HTTPMethod, _ path: String, _ id: String, _ summary: String,
        _ input: repeat RouteInput<each Value>,
        handler: @escaping @Sendable (ServerRequest, repeat each Value) async throws -> HTTPAnswer
    ) {
        var declarations: [RouteInputDeclaration] = []
        for one in repeat each input { declarations.append(one.declaration) }
        self.method = method
        template = path
        self.id = id
        self.summary = summary
        inputs = declarations
        answers = []
        run = { raw in
            let values = try Self.values(raw, repeat each input)
            return try await handler(raw.request, repeat each values)
        }
    }

    /// The handler's inputs, or all their problems.
    @inline(never)
    private static func values<each Value>(
        _ raw: RawInputs, _ input: repeat RouteInput<each Value>
    ) throws -> (repeat each Value) {
        var problems: [InputProblem] = []
        let values = (repeat (each input).value(raw, &problems))
        guard problems.isEmpty else { throw RequestProblem.inputs(problems) }
        return (repeat try present(each values))
    }

    /// A route whose handler's result is sent as JSON with 200.
    public init<each Value: Sendable, Result: OutputValue>(
        _ method: HTTPMethod, _ path: String, _ id: String, _ summary: String,
        _ input: repeat RouteInput<each Value>,
        handler: @escaping @Sendable (ServerRequest, repeat each Value) async throws -> Result
    ) {
        self.init(method, path, id, summary, repeat each input) {
            (request: ServerRequest, value: repeat each Value) async throws -> HTTPAnswer in
            .json(try await handler(request, repeat each value))
        }
        answers = [
            AnswerDeclaration(status: .ok, summary: "Done", type: "application/json", schema: Result.schema)
        ]
    }

    /// Never throws: every input without a problem has a value.
    private static func present<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw RequestProblem.inputs([]) }
        return value
    }

    /// A route that answers with the OpenAPI document of these routes.
    public static func openAPI(
        _ path: String, of routes: [Route], _ description: APIDescription
    ) throws(ServerError) -> Route {
        let document = try Routes(routes).openAPI(description)
        return Route(.get, path, "openAPI", "Get the OpenAPI document of this server") { _ in
            HTTPAnswer.json(document)
        }.open().hidden()
    }
}

// MARK: Options of a route

extension Route {
    private func with(_ change: (inout Route) -> Void) -> Route {
        var copy = self
        change(&copy)
        return copy
    }

    /// More than the summary, in Markdown.
    public func details(_ text: String) -> Route { with { $0.details = text } }
    /// Sets the group in which documents show it.
    public func tagged(_ name: String) -> Route { with { $0.tag = name } }
    /// Requires one of these scopes.
    public func needing(_ scopes: Set<ClientScope>) -> Route { with { $0.scopes = scopes } }
    /// Allows access without authentication.
    public func open() -> Route { with { $0.isOpen = true } }
    /// Omits it from documents.
    public func hidden() -> Route { with { $0.isHidden = true } }
    /// Marks it as deprecated: it still works, but new clients should not use it.
    public func deprecated() -> Route { with { $0.isDeprecated = true } }
    /// Sets the largest body.
    public func bodyLimit(_ limit: ByteCount) -> Route { with { $0.bodyLimit = limit } }
    /// Sets an example request body for documents.
    public func example(request: JSON) -> Route { with { $0.requestExample = request } }
    /// Declares error statuses besides the usual ones.
    public func refusing(_ statuses: HTTPStatus...) -> Route { with { $0.refusals += statuses } }
    /// Sets the status for invalid input values, for an API that does not use 422.
    public func refusingInputs(with status: HTTPStatus) -> Route { with { $0.inputRefusal = status } }

    /// Declares a JSON response.
    public func answering<Value: Shaped>(
        _ status: HTTPStatus, _ type: Value.Type, _ summary: String, example: JSON? = nil
    ) -> Route {
        with { route in
            route.answers.removeAll { $0.status == status }
            route.answers.append(
                AnswerDeclaration(
                    status: status, summary: summary, type: "application/json", schema: Value.schema, example: example))
        }
    }

    /// Declares a response of another type, such as `text/event-stream`, or without a body.
    public func answering(_ status: HTTPStatus, type: String = "", _ summary: String) -> Route {
        with { route in
            route.answers.append(AnswerDeclaration(status: status, summary: summary, type: type, schema: nil))
        }
    }
}
