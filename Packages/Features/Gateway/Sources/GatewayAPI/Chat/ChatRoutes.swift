import AnthropicDialect
import Capabilities
import GatewayStore
import GatewayTurns
import HTTPCore
import HTTPServer
import JSON
import ModelKit
import OpenAIDialect
import ResponsesDialect
import TurnLoop

/// Routes for completions and agent turns, in three dialects.
struct ChatRoutes {
    let services: APIServices

    var wanted: RouteInput<FrameFormat?> {
        .header("X-Martlet-Dialect", "rich for an agent turn with gateway frames, plain for OpenAI's chunks only")
    }

    private var approvals: RouteInput<ApprovalSupport?> {
        .header("X-Martlet-Approvals", "deny if the client cannot answer an approval_request; default: ask")
    }

    var all: [Route] { answering + controls }

    // MARK: - Answers

    private var answering: [Route] {
        [
            Route(
                .post, "/v1/chat/completions", "createCompletion", "Create an answer, in OpenAI's or gateways' dialect",
                wanted, approvals,
                .body(CompletionBody.self, "The request", unknown: .kept)
            ) { request, wanted, approvals, body in
                try await complete(body, wanted, approvals, request.principal).answer()
            }
            .answering(.ok, CompletionReply.self, "The answer").details(Self.details)
            .example(request: Self.example([:])),
            Route(
                .post, "/v1/responses", "createResponse", "Create an answer, in OpenAI's responses dialect", wanted,
                .body(ResponsesBody.self, "The request", unknown: .kept)
            ) { request, wanted, body in try await respond(body, wanted, request.principal).answer() }
            .answering(.ok, ResponsesReply.self, "The answer")
            .example(request: ["model": .string(Self.model), "input": "What can you do?"]),
            Route(
                .post, "/v1/messages", "createMessage", "Create an answer, in Anthropic's dialect", wanted,
                .body(MessagesBody.self, "The request", unknown: .kept)
            ) { request, wanted, body in try await message(body, wanted, request).answer() }
            .answering(.ok, MessagesReply.self, "The answer").example(request: Self.example(["max_tokens": 1024])),
        ].map { route in
            route.answering(.ok, type: "text/event-stream", "The answer as a stream")
                .refusing(
                    .notFound, .conflict, .contentTooLarge, .tooManyRequests, .badGateway, .gatewayTimeout,
                    HTTPStatus(529)
                )
                // Like OpenAI and Anthropic; their clients do not know 422.
                .refusingInputs(with: .badRequest).tagged("chat")
        }
    }

    /// The built-in model, which a gateway has unless its build leaves it out or it is switched off.
    private static let model = "martlet/martlet-offline"

    private static func example(_ more: JSONObject) -> JSON {
        var body: JSONObject = [
            "model": .string(model), "messages": [["role": "user", "content": "What can you do?"]],
        ]
        for (key, value) in more { body[key] = value }
        return .object(body)
    }

    private static let details = """
        A request with `project_id`, `session_id` or `mcp` and without `tools` is an agent turn: tools run here, the \
        session is stored, and a stream has frames besides OpenAI's chunks. Their `object` is session, tool_use, \
        tool_output, tool_result, approval_request, notice or usage. Every other request is a completion: the model \
        is asked once, and the client answers its calls.
        """

    // Not inlined: their variables would take memory in every task that waits for its answer.

    @inline(never)
    private func complete(
        _ body: CompletionBody, _ wanted: FrameFormat?, _ approvals: ApprovalSupport?, _ client: Principal?
    ) throws -> any Answerable {
        let request = try understood { () throws(DialectError) in try OpenAIRequest(body.json) }
        var asked = try GatewayRequest(
            request.chat, request.native, wanted: wanted, hasFrames: true, approvals: approvals, services)
        asked.input.client = client?.turnClient
        let form = OpenAIForm(asked, includesUsage: request.wantsUsage, services)
        return ChatResponder(services: services, asked: asked, form: form)
    }

    @inline(never)
    private func respond(
        _ body: ResponsesBody, _ wanted: FrameFormat?, _ client: Principal?
    ) throws -> any Answerable {
        let request = try understood { () throws(DialectError) in try ResponsesRequest(body.json) }
        var asked = try GatewayRequest(request.chat, request.native, wanted: wanted, hasFrames: false, services)
        asked.input.client = client?.turnClient
        return ChatResponder(services: services, asked: asked, form: ResponsesForm(asked, services))
    }

    @inline(never)
    private func message(
        _ body: MessagesBody, _ wanted: FrameFormat?, _ sent: ServerRequest
    ) throws -> any Answerable {
        let request = try understood { () throws(DialectError) in try AnthropicRequest(body.json) }
        let head = sent.head
        var native = request.native
        // These headers also decide what the body may contain.
        let betas = head.headers.list("anthropic-beta")
        if !betas.isEmpty { native.headers["anthropic-beta"] = betas.joined(separator: ",") }
        if head.query == "beta=true" { native.query = head.query }
        var asked = try GatewayRequest(request.chat, native, wanted: wanted, hasFrames: false, services)
        asked.input.client = sent.principal?.turnClient
        return ChatResponder(services: services, asked: asked, form: AnthropicForm(asked))
    }

    func understood<T>(_ read: () throws(DialectError) -> T) throws(RequestProblem) -> T {
        do throws(DialectError) { return try read() } catch { throw RequestProblem(error) }
    }
}

extension Principal {
    /// The client, for counting usage and stopping turns.
    var turnClient: TurnClient { TurnClient(name, credential: credential) }
}

/// Routes for token estimates, debugging, status, and stopping a turn.
extension ChatRoutes {
    var controls: [Route] {
        [
            Route(
                .post, "/v1/messages/count_tokens", "countTokens", "Estimate the tokens of a request",
                .body(MessagesBody.self, "The request", unknown: .kept)
            ) { _, body in
                let request = try understood { () throws(DialectError) in
                    try AnthropicRequest(body.json)
                }
                return TokenCount(tokens: TokenEstimate().tokens(of: request.chat))
            }.refusingInputs(with: .badRequest),
            Route(
                .post, "/v1/chat/completions/debug", "debugCompletion", "Show how a request would be interpreted",
                wanted,
                .body(CompletionBody.self, "The request", unknown: .kept)
            ) { _, wanted, body in try await debug(body, wanted) },
            Route(
                .get, "/v1/chat/completions/{session}/status", "getStatus", "Get the status of a session",
                .path("session", "The session")
            ) { _, session in
                let status = try await services.turns.status(session: session)
                return WireStatus(
                    session: status.session, isRunning: status.isRunning, approvals: status.openApprovals)
            }.refusing(.notFound),
            Route(
                .delete, "/v1/chat/completions/{session}", "stopTurn",
                "Stop the turn of a session; what was said is kept, and the session can still be used",
                .path("session", "The session")
            ) { _, session in
                StopReply(session: session, wasRunning: try await services.turns.stop(session: session))
            }.refusing(.notFound),
        ].map { $0.tagged("chat") }
    }

    private func debug(_ body: CompletionBody, _ wanted: FrameFormat?) async throws -> DebugReply {
        let request = try understood { () throws(DialectError) in try OpenAIRequest(body.json) }
        let asked = try GatewayRequest(request.chat, request.native, wanted: wanted, hasFrames: true, services)
        do {
            let model = try await services.turns.model(named: asked.model)
            return DebugReply(asked: asked, model: "\(model.provider)/\(model.id)")
        } catch is GatewayError {
            // A missing model is a valid result of this route.
            return DebugReply(asked: asked, model: nil)
        }
    }
}

/// The frames that a client asks for in a header.
enum FrameFormat: String, Choice {
    case plain, rich
}

/// Whether a client can answer approval requests, as it says in a header.
enum ApprovalSupport: String, Choice {
    case ask, deny
}

/// A request to the gateway, independent of its dialect.
struct GatewayRequest: Sendable {
    var input: TurnInput
    /// Whether tools run here and the session is stored.
    let isAgent: Bool
    /// Whether the client understands gateway frames.
    let isRich: Bool
    let streams: Bool

    /// The model as the client named it.
    var model: String { input.chat.model }

    /// Takes the gateway's own members out of the request. A client that brings its own tools wants to run them, so no
    /// tools run here then.
    ///
    /// - Parameters:
    ///   - native: The request as the client wrote it.
    ///   - hasFrames: Whether the client's API allows gateway frames.
    ///   - approvals: What to do with calls that need approval.
    init(
        _ chat: ChatRequest, _ native: NativeRequest, wanted: FrameFormat?, hasFrames: Bool,
        approvals: ApprovalSupport? = nil, _ services: APIServices
    ) throws(ValueError) {
        var chat = chat
        chat.native = native
        func take(_ key: String) -> JSON? {
            defer { chat.extras[key] = nil }
            return chat.extras[key]
        }
        let project = take("project_id")?.filled
        let session = take("session_id")?.filled
        let prompt = take("system_prompt")?.filled
        let tools = take("mcp")
        let names = project != nil || session != nil || tools != nil
        isAgent = chat.tools.isEmpty && (names || wanted == .rich)
        isRich = hasFrames && isAgent && wanted != .plain
        streams = chat.streams
        input = TurnInput(chat, isAgent: isAgent)
        input.project = project
        input.session = session
        input.systemPrompt = prompt
        input.selection = try tools.map(Self.selection)
        // Only a client that sees an approval request can answer it.
        input.canAsk = isRich && streams && approvals != .deny
        input.keepsRunning = services.keepsRunning
    }

    private static func selection(_ json: JSON) throws(ValueError) -> ToolSelection {
        try ToolsBody(json: json).selection
    }
}

extension JSON {
    /// A text that is not empty.
    fileprivate var filled: String? { string.flatMap { $0.isEmpty ? nil : $0 } }
}
