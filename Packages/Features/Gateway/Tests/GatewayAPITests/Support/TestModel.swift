import Capabilities
import JSON
import Synchronization

/// A provider whose models behave as their names say.
final class TestModel: ModelProvider {
    let id = "test"
    let name = "Test"
    /// The received requests, oldest first.
    private let asked = Mutex<[ChatRequest]>([])
    /// Called when a request to an endless model was cancelled.
    let left = Signals()

    var requests: [ChatRequest] { asked.withLock { $0 } }

    func isAvailable() async -> Bool { true }

    /// Models named `as-…` are asked in that dialect and are not listed.
    func dialect(of model: String) async -> RequestDialect? {
        model.hasPrefix("as-") ? RequestDialect(rawValue: String(model.dropFirst(3))) : nil
    }

    func embeddings(_ body: JSONObject) async throws -> JSONObject? {
        guard body["model"] == "vectors" else { return nil }
        let texts = body["input"]?.array?.count ?? 1
        let data = (0..<texts).map { ["object": "embedding", "index": .int($0), "embedding": [0.5, -1]] as JSON }
        return [
            "object": "list", "data": .array(data), "model": "vectors",
            "usage": ["prompt_tokens": 4, "total_tokens": 4],
        ]
    }

    func models() async throws -> [ModelDescription] {
        [
            "echo", "caller", "thinker", "endless", "silent", "many", "refused", "busy", "breaks", "quitter",
            "team/echo", "signs", "mute", "later", "overloaded", "vectors", "long",
        ].map { ModelDescription(id: $0, provider: id, contextTokens: 8000, abilities: [.tools]) }
    }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        asked.withLock { $0.append(request) }
        let start = ChatStart(id: "up-1", model: request.model)
        let usage = Usage(inputTokens: 12, outputTokens: 3, cost: Cost(nanodollars: 1500))
        let last = request.messages.last { $0.role == .user }?.text ?? ""
        switch request.model {
        case "refused": throw TestFailure(status: 401)
        case "busy": throw TestFailure(status: 429)
        case "later", "overloaded":
            try await receive([.notice("something is to be said")])
            throw TestFailure(status: request.model == "later" ? 429 : 529, wait: 6.2)
        case "long": throw TestFailure(status: 400, code: "chat.too-long")
        case "mute":
            try await receive([.began(start), .usage(usage)])
            return ChatAnswer(start: start, message: Message(.assistant, []), finish: .stop, usage: usage)
        case "signs" where request.messages.last?.role != .tool:
            let call = ToolCall(id: "call-1", name: request.tools.first?.name ?? "none", input: [:])
            let sign = Reasoning("", signature: "sig")
            let seal = Reasoning("", sealed: "closed")
            try await receive([
                .began(start), .usage(usage), .reasoning("hm"), .thought(sign), .thought(seal), .call(call),
            ])
            let parts: [Message.Part] = [.reasoning(Reasoning("hm", signature: "sig")), .reasoning(seal), .call(call)]
            return ChatAnswer(start: start, message: Message(.assistant, parts), finish: .calls, usage: usage)
        case "breaks":
            try await receive([.began(start), .text("half of ")])
            throw TestFailure(status: nil)
        case "endless", "silent":
            do {
                // The client may leave as soon as it has the text, before this returns.
                if request.model == "endless" { try await receive([.began(start), .text("on and on")]) }
                try await Task.sleep(for: .seconds(3600))
            } catch {
                left.send("left")
                throw error
            }
        case "many":
            try await receive([.began(start)])
            for number in 0..<100 { try await receive([.text("\(number) ")]) }
            let text = (0..<100).map { "\($0) " }.joined()
            return ChatAnswer(start: start, message: Message(.assistant, text), finish: .stop, usage: usage)
        case "caller" where !request.tools.isEmpty && request.messages.last?.role != .tool:
            let call = try Self.call(last, request.tools)
            try await receive([.began(start), .call(call), .usage(usage)])
            return ChatAnswer(start: start, message: Message(.assistant, [.call(call)]), finish: .calls, usage: usage)
        case "quitter":
            // Uses a tool, and is then too busy to continue.
            guard request.messages.last?.role != .tool else { throw TestFailure(status: 503) }
            let call = try Self.call("ls {}", request.tools)
            return ChatAnswer(start: start, message: Message(.assistant, [.call(call)]), finish: .calls, usage: usage)
        case "thinker":
            try await receive([.began(start), .reasoning("hm"), .text("Yes."), .usage(usage)])
            let parts: [Message.Part] = [.reasoning(Reasoning("hm")), .text("Yes.")]
            return ChatAnswer(start: start, message: Message(.assistant, parts), finish: .stop, usage: usage)
        default: break
        }
        let text = "You said: " + request.messages.filter { $0.role == .user }.map(\.text).joined(separator: " | ")
        try await receive([.began(start), .text(text), .usage(usage)])
        return ChatAnswer(start: start, message: Message(.assistant, text), finish: .stop, usage: usage)
    }

    /// "ls {}" calls the offered tool of that name, in any spelling.
    private static func call(_ words: String, _ tools: [ToolDescription]) throws -> ToolCall {
        let parts = words.split(separator: " ", maxSplits: 1).map(String.init)
        func plain(_ name: String) -> String { name.replacing(".", with: "_") }
        let name = tools.first { plain($0.name) == plain(parts.first ?? "") }?.name ?? tools.first?.name ?? "none"
        return ToolCall(id: "call-1", name: name, input: try parts.count > 1 ? JSON(parsing: parts[1]) : [:])
    }
}

/// The error of a provider that does not answer.
struct TestFailure: Failure {
    let status: Int?
    var code = "http.status"
    var wait: Double?
    var message: String { "the provider answered \(status ?? 0); try another model" }
    var exit: ExitCode { .unreachable }
    var details: JSONObject {
        var details: JSONObject = [:]
        details["status"] = status.map(JSON.int)
        details["retryAfterSeconds"] = wait.map(JSON.double)
        return details
    }
}

/// Texts that one task sends and another waits for.
struct Signals: Sendable {
    private let stream: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream(of: String.self)
    }

    func send(_ word: String) { continuation.yield(word) }

    func next() async -> String? {
        var iterator = stream.makeAsyncIterator()
        return await iterator.next()
    }
}
