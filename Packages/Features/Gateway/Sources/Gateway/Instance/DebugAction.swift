import Capabilities
import FileKit
import HTTPCore
import JSON
import LoopKit
import Registry

/// `martlet gateway debug`: how the running gateway of this machine understands a request, without asking a model.
struct DebugAction {
    let services: GatewayServices

    init(_ services: GatewayServices) { self.services = services }

    /// No request that a person has in a file is longer.
    private static let mostBytes = 16 << 20

    var action: Action {
        Action(
            "gateway.debug", "Show how the gateway understands a request, without asking a model", .reads,
            .argument("message", "A message to send", as: String?.self),
            .option("model", "The model of the request", as: String?.self),
            .option(
                "request", "File with the body of a request in JSON, as for /v1/chat/completions", as: ReadPath?.self)
        ) { context, message, model, file in
            let body = try Self.body(message, model, try file.map { try context.path($0) })
            let loop = EventLoop()
            defer { loop.stop() }
            guard let (state, _) = try Instance(services.surroundings).running(loop: loop) else {
                throw ServingError(.down, "no gateway is running here; start it with 'martlet gateway serve'")
            }
            guard let token = try await GatewayToken(services.surroundings).known(context.registry)?.token else {
                throw ServingError(.settings, "there is no token for the gateway; 'martlet gateway token' makes one")
            }
            return DebuggedRequest(try await HealthProbe(services: services).debug(body, token, at: state))
        }
        .sending()
        .example("martlet gateway debug \"Hello\" --model echo", "A message as it would be understood")
        .example("martlet gateway debug --request body.json", "The request that a program sends")
    }

    private static func body(_ message: String?, _ model: String?, _ file: GrantedPath?) throws -> JSON {
        var body: JSON = ["messages": [["role": "user", "content": .string(message ?? "Hello")]]]
        if let file {
            do { body = try JSON(parsing: try file.read(limit: mostBytes)) } catch let error as JSONError {
                throw unusable("is not JSON: \(error.message) at byte \(error.offset)")
            }
        }
        guard var object = body.object else { throw unusable("is not a JSON object") }
        if let model { object["model"] = .string(model) }
        return .object(object)
    }

    private static func unusable(_ problem: String) -> ArgumentsFailure {
        ArgumentsFailure(action: "gateway.debug", problems: [ValueError(problem, at: ["--request"])])
    }
}

/// What the gateway says about a request.
struct DebuggedRequest: Record {
    private let answer: JSON

    init(_ answer: JSON) { self.answer = answer }

    private func text(_ key: String) -> String? {
        answer[key]?.string.map { PlainText.escape($0, limit: 10_000) }
    }

    static let fields: [Field<DebuggedRequest>] = [
        Field("kind", "agent turn, in which the gateway runs tools, or completion") { $0.text("kind") },
        Field("model", "Model that would answer; nothing without such a model", .name) { $0.text("model") },
        Field("requested_model", "Model that the request names") { $0.text("requested_model") },
        Field("dialect", "rich with frames of the gateway, or plain") { $0.text("dialect") },
        Field("stream", "Whether the answer would be streamed") { $0.answer["stream"]?.bool },
        Field("project_id", "The project") { $0.text("project_id") },
        Field("session_id", "The session") { $0.text("session_id") },
        Field("system_prompt", "Instructions for the model") { $0.text("system_prompt") },
        Field("messages", "The conversation") { $0.answer["messages"] ?? [] },
        Field("tools", "The client's own tools") { debugged in
            (debugged.answer["tools"]?.array ?? []).compactMap(\.string).map { PlainText.escape($0, limit: 200) }
        },
        Field("tool_choice", "Which tool may or must be used") { $0.text("tool_choice") },
        Field("max_tokens", "Maximum tokens in the answer") { $0.answer["max_tokens"]?.int },
        Field("passed_on", "Members passed to the provider unchanged") { debugged in
            debugged.answer["passed_on"].flatMap { $0.object?.isEmpty == false ? $0 : nil }
        },
    ]
}
