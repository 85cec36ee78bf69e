import Capabilities
import Synchronization

/// A model that calls a tool once and then repeats the message, for any client.
final class EchoModel: ModelProvider {
    let id = "echo"
    let name = "Echo"

    func isAvailable() async -> Bool { true }
    func models() async throws -> [ModelDescription] { [ModelDescription(id: "one", provider: "echo")] }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        let usage = Usage(inputTokens: 10, outputTokens: 5)
        let start = ChatStart(model: request.model)
        guard let said = request.messages.last(where: { $0.role == .user })?.text else { throw TestProblem("no user") }
        guard request.messages.last?.role == .tool else {
            let call = ToolCall.named("look_up")
            try await receive([.call(call)])
            return ChatAnswer(start: start, message: Message(.assistant, [.call(call)]), finish: .calls, usage: usage)
        }
        for piece in ["you", " said", " \(said)"] { try await receive([.text(piece)]) }
        return ChatAnswer(start: start, message: Message(.assistant, "you said \(said)"), finish: .stop, usage: usage)
    }
}

/// Counts from zero.
final class Counter: Sendable {
    private let count = Mutex(-1)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
