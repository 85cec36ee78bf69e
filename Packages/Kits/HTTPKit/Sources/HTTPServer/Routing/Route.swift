public import Capabilities
public import HTTPCore
public import JSON

/// One thing that the server answers, declared once: the handler's arguments are the types of the inputs, and the
/// OpenAPI document says the same.
///
/// ```swift
/// Route(.get, "/v1/projects/{id}/files", "listFiles", "The files of a project",
///     .path("id", "The project"), .query("limit", "Maximum number of files", in: 1...100, default: 20)
/// ) { request, id, limit in
///     try await projects.files(of: id, limit: limit)      // an OutputValue: 200 and JSON
/// }
/// ```
public struct Route: Sendable {
    public let method: HTTPMethod
    /// The path with its names in braces.
    public let template: String
    /// The operation's id in the OpenAPI document.
    public let id: String
    /// One line, without a final stop.
    public let summary: String
    public let inputs: [RouteInputDeclaration]
    /// What it answers when all is well.
    public private(set) var answers: [AnswerDeclaration]
    /// What it may refuse with besides the usual.
    public private(set) var refusals: [HTTPStatus] = []
    /// What it refuses with where a value is not as it was declared.
    public private(set) var inputRefusal = HTTPStatus.unprocessable
    public private(set) var details = ""
    public private(set) var tag: String?
    /// Whether it is answered without knowing who asks.
    public private(set) var isOpen = false
    /// What whoever asks has to have one of; nothing in particular when empty.
    public private(set) var scopes: Set<ClientScope> = []
    /// Whether documents leave it out.
    public private(set) var isHidden = false
    public private(set) var isDeprecated = false
    /// The largest body; nil for the server's limit.
    public private(set) var bodyLimit: ByteCount?
    public private(set) var requestExample: JSON?

    let run: @Sendable (RawInputs) async throws -> HTTPAnswer

    /// What a status of this route comes with.
    public struct AnswerDeclaration: Sendable {
        public let status: HTTPStatus
        public let summary: String
        public let type: String
        public let schema: Schema?
        public var example: JSON?
    }

    /// A route whose handler makes the answer itself; `answering` declares what that is.
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

    /// What the handler takes, or everything that is wrong with it.
    @inline(never)
    private static func values<each Value>(
        _ raw: RawInputs, _ input: repeat RouteInput<each Value>
    ) throws -> (repeat each Value) {
        var problems: [InputProblem] = []
        let values = (repeat (each input).value(raw, &problems))
        guard problems.isEmpty else { throw RequestProblem.inputs(problems) }
        return (repeat try present(each values))
    }

    /// A route whose handler's result is answered as JSON with 200.
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

    /// Every input without a problem has a value, so that this never throws.
    private static func present<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw RequestProblem.inputs([]) }
        return value
    }
}

// MARK: What may be said of a route beyond its declaration

extension Route {
    private func with(_ change: (inout Route) -> Void) -> Route {
        var copy = self
        change(&copy)
        return copy
    }

    /// More than the summary, in Markdown.
    public func details(_ text: String) -> Route { with { $0.details = text } }
    /// The group in which documents show it.
    public func tagged(_ name: String) -> Route { with { $0.tag = name } }
    /// Answered to whoever has one of these scopes.
    public func needing(_ scopes: Set<ClientScope>) -> Route { with { $0.scopes = scopes } }
    /// Answered without knowing who asks.
    public func open() -> Route { with { $0.isOpen = true } }
    /// Left out of documents.
    public func hidden() -> Route { with { $0.isHidden = true } }
    /// Still answered, but nobody should begin to use it.
    public func deprecated() -> Route { with { $0.isDeprecated = true } }
    /// The largest body that is read.
    public func bodyLimit(_ limit: ByteCount) -> Route { with { $0.bodyLimit = limit } }
    /// A body that documents show.
    public func example(request: JSON) -> Route { with { $0.requestExample = request } }
    /// Statuses with which it may refuse besides the usual ones.
    public func refusing(_ statuses: HTTPStatus...) -> Route { with { $0.refusals += statuses } }
    /// The status for values that are not as they were declared, where an API has another one than 422.
    public func refusingInputs(with status: HTTPStatus) -> Route { with { $0.inputRefusal = status } }

    /// Declares an answer in JSON.
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

    /// Declares an answer of another type, such as `text/event-stream`, or one without a body.
    public func answering(_ status: HTTPStatus, type: String = "", _ summary: String) -> Route {
        with { route in
            route.answers.append(AnswerDeclaration(status: status, summary: summary, type: type, schema: nil))
        }
    }
}

extension RequestProblem {
    private static let inputsCode = "server.inputs"

    /// Whether it says that values are not as they were declared.
    var isAboutInputs: Bool { code == Self.inputsCode }

    static func inputs(_ problems: [InputProblem]) -> RequestProblem {
        let words = problems.map { problem in
            problem.name.isEmpty ? "the \(problem.place) \(problem.message)" : "\(problem.name) \(problem.message)"
        }
        return RequestProblem(
            .unprocessable, code: inputsCode, words.joined(separator: "; "), inputs: problems)
    }
}
