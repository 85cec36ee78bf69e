import Capabilities
import CoreTesting
import JSON
import Synchronization

/// A provider whose model is scripted by a test.
final class ScriptedModel: ModelProvider {
    enum Step: Sendable {
        case say(String, Usage = Usage(inputTokens: 10, outputTokens: 5))
        case call([ToolCall])
        /// Says something and then runs until it is stopped.
        case hang(String)
        case fail(any Error)
        case custom(@Sendable (ChatRequest) async throws -> ChatAnswer)
    }

    let id: String
    let name = "Scripted"
    private let offered: @Sendable () async throws -> [ModelDescription]
    private let steps: Mutex<[Step]>
    private let asked = Mutex<[ChatRequest]>([])
    private let listed = Mutex(0)
    let isThere: Bool
    let isFound: Bool

    init(
        _ id: String = "scripted", _ steps: Step..., isThere: Bool = true, isFound: Bool = false,
        models: (@Sendable () async throws -> [ModelDescription])? = nil
    ) {
        self.id = id
        self.isThere = isThere
        self.isFound = isFound
        self.steps = Mutex(steps)
        offered = models ?? { [ModelDescription(id: "one", provider: id, contextTokens: 100_000)] }
    }

    /// The received requests, in order.
    var requests: [ChatRequest] { asked.withLock { $0 } }
    /// How often its models were listed.
    var lists: Int { listed.withLock { $0 } }

    func add(_ steps: Step...) { self.steps.withLock { $0 += steps } }

    func isAvailable() async -> Bool { isThere }

    func models() async throws -> [ModelDescription] {
        listed.withLock { $0 += 1 }
        return try await offered()
    }

    func answer(
        _ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void
    ) async throws -> ChatAnswer {
        asked.withLock { $0.append(request) }
        let step = steps.withLock { $0.isEmpty ? .say("nothing more to say") : $0.removeFirst() }
        let start = ChatStart(id: "answer", model: request.model)
        switch step {
        case .say(let text, let usage):
            try await receive([.began(start)])
            for word in text.split(separator: " ", omittingEmptySubsequences: false) {
                try await receive([.text(word == text.split(separator: " ").first.map { $0 } ? "\(word)" : " \(word)")])
            }
            try await receive([.usage(usage)])
            return ChatAnswer(start: start, message: Message(.assistant, text), finish: .stop, usage: usage)
        case .call(let calls):
            let usage = Usage(inputTokens: 20, outputTokens: 8)
            try await receive([.began(start)] + calls.map(ChatEvent.call) + [.usage(usage)])
            let message = Message(.assistant, calls.map(Message.Part.call))
            return ChatAnswer(start: start, message: message, finish: .calls, usage: usage)
        case .hang(let text):
            try await receive([.began(start), .text(text)])
            try await TestClock().sleep(for: .seconds(1))
            throw TestProblem("a clock that stands still has moved")
        case .fail(let error): throw error
        case .custom(let body): return try await body(request)
        }
    }
}

extension ToolCall {
    static func named(_ name: String, _ input: JSON = [:], id: String = "call-1") -> ToolCall {
        ToolCall(id: id, name: name, input: input)
    }
}

struct TestProblem: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// An error that a server may return.
struct Refusal: Failure {
    let code = "test.refused"
    let message = "the server does not want to"
}
