import Capabilities
import JSON
import Registry
import Settings
import Synchronization

/// A feature with a model, and a tool, that say what a test dictates.
struct Dictation: Feature {
    static let manifest = Manifest(
        id: "dictation", summary: "A model for tests", version: "1.0",
        provides: [.shared((any ModelProvider).self), .shared((any ToolSource).self)])

    /// The model of a test, which dictates its answers.
    @TaskLocal static var model = DictatedModel()

    init(_ settings: FeatureSettings) {}

    func register(in registry: inout RegistryBuilder) {
        registry.provide((any ModelProvider).self, Self.model)
        registry.provide((any ToolSource).self, Drill(model: Self.model) as any ToolSource)
    }
}

/// Answers each question as dictated.
final class DictatedModel: ModelProvider {
    let id = "dictated"
    let name = "The dictated model"
    private let answers = Mutex<[String: DictatedAnswer]>([:])

    /// The answer to a question, which may be dictated before the question is asked.
    subscript(question: String) -> DictatedAnswer {
        answers.withLock { answers in
            if let answer = answers[question] { return answer }
            let answer = DictatedAnswer()
            answers[question] = answer
            return answer
        }
    }

    func isAvailable() async -> Bool { true }
    func models() async throws -> [ModelDescription] { [ModelDescription(id: "m", provider: id)] }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        let last = request.messages.last
        // What a tool has returned is answered too.
        let results = last?.parts.compactMap { part in
            if case .result(let result) = part { result.content } else { nil }
        }
        let answer = self[last?.role == .tool ? results?.joined() ?? "" : last?.text ?? ""]
        var message = Message(.assistant, [])
        var (text, calls) = ("", [Message.Part]())
        while let step = await answer.next() {
            switch step.content {
            case .events(let events):
                for event in events {
                    switch event {
                    case .text(let more): text += more
                    case .call(let call): calls.append(.call(call))
                    default: break
                    }
                }
                try await receive(events)
                step.done.settle(())
            case .failure(let error):
                step.done.settle(())
                throw error
            case .end:
                step.done.settle(())
                message.parts = (text.isEmpty ? [] : [.text(text)]) + calls
                return ChatAnswer(
                    start: ChatStart(model: "m"), message: message, finish: calls.isEmpty ? .stop : .calls)
            }
        }
        throw CancellationError()
    }
}

/// What a test says, in order.
final class DictatedAnswer: Sendable {
    struct Step: Sendable {
        enum Content: Sendable {
            case events([ChatEvent])
            case failure(OutOfOrder)
            case end
        }

        let content: Content
        let done = Promise<Void>()
    }

    private let steps: AsyncStream<Step>
    private let continuation: AsyncStream<Step>.Continuation

    init() { (steps, continuation) = AsyncStream.makeStream(of: Step.self) }

    /// Says these texts, and returns when all of them were taken.
    func say(_ texts: String...) async throws { try await send(.events(texts.map { .text($0) })) }
    /// Says a whole answer, for a question that nobody waits for.
    func sayLater(_ text: String) {
        for content in [Step.Content.events([.text(text)]), .end] { continuation.yield(Step(content: content)) }
    }
    func call(_ call: ToolCall) async throws { try await send(.events([.call(call)])) }
    func fail() async throws { try await send(.failure(OutOfOrder())) }
    func end() async throws { try await send(.end) }

    private func send(_ content: Step.Content) async throws {
        let step = Step(content: content)
        continuation.yield(step)
        try await step.done.value()
    }

    /// The next step; nil when the reader is cancelled.
    func next() async -> Step? {
        var iterator = steps.makeAsyncIterator()
        return await iterator.next()
    }
}

/// A tool that prints what is dictated as the answer to `drill`, and returns it.
private final class Drill: ToolSource {
    let name = "drill"
    private let model: DictatedModel

    init(model: DictatedModel) { self.model = model }

    func tools() async throws -> [ToolDescription] {
        [ToolDescription(name: "drill", summary: "Drills", input: ["type": "object"], effect: .reads)]
    }

    func run(_ call: ToolCall) async throws -> ToolResult { try await run(call, reaching: ToolReach()) { _ in } }

    func run(
        _ call: ToolCall, reaching agreed: ToolReach, telling tell: @escaping @Sendable (String) async -> Void
    ) async throws -> ToolResult {
        var output = ""
        while let step = await model["drill"].next() {
            defer { step.done.settle(()) }
            guard case .events(let events) = step.content else { return ToolResult(call: call.id, content: output) }
            for case .text(let text) in events {
                output += text
                await tell(text)
            }
        }
        throw CancellationError()
    }
}
