import Capabilities
import JSON
import Synchronization

/// A model that follows its script and records its requests.
final class ScriptedModel: Sendable {
    enum Step: Sendable {
        /// An answer, streamed piece by piece.
        case says([Message.Part], finish: ChatAnswer.Finish = .stop, usage: Usage = Usage())
        /// Some events and then an error.
        case breaks(after: [ChatEvent], any Error)
        /// Some events and then nothing, until it is cancelled.
        case hangs(after: [ChatEvent])
    }

    private let state: Mutex<(steps: [Step], requests: [ChatRequest])>
    let hanging = Signal()

    init(_ steps: Step...) {
        state = Mutex((steps, []))
    }

    init(steps: [Step]) {
        state = Mutex((steps, []))
    }

    var requests: [ChatRequest] { state.withLock { $0.requests } }

    func answer(_ request: ChatRequest, _ receive: ([ChatEvent]) async throws -> Void) async throws -> ChatAnswer {
        let step = state.withLock { state -> Step in
            state.requests.append(request)
            return state.steps.isEmpty ? .says([.text("There is nothing more.")]) : state.steps.removeFirst()
        }
        let start = ChatStart(id: "answer-\(requests.count)", model: "scripted")
        try await receive([.began(start)])
        switch step {
        case .says(let parts, let finish, let usage):
            for part in parts { try await receive(Self.events(of: part)) }
            if usage != Usage() { try await receive([.usage(usage)]) }
            return ChatAnswer(start: start, message: Message(.assistant, parts), finish: finish, usage: usage)
        case .breaks(let events, let error):
            for event in events { try await receive([event]) }
            throw error
        case .hangs(let events):
            for event in events { try await receive([event]) }
            hanging.raise()
            while true { try await Task.sleep(for: .seconds(3600)) }
        }
    }

    /// Text arrives in pieces of three characters.
    private static func events(of part: Message.Part) -> [ChatEvent] {
        switch part {
        case .text(let text): pieces(of: text).map(ChatEvent.text)
        case .reasoning(let thought): pieces(of: thought.text).map(ChatEvent.reasoning)
        case .refusal(let text): [.refusal(text)]
        case .call(let call): [.calling(id: call.id, name: call.name), .call(call)]
        case .malformedCall(let call): [.malformedCall(call)]
        case .result(let result): [.result(result)]
        case .attachment: []
        }
    }

    private static func pieces(of text: String) -> [String] {
        var pieces: [String] = []
        var rest = text[...]
        while !rest.isEmpty {
            pieces.append(String(rest.prefix(3)))
            rest = rest.dropFirst(3)
        }
        return pieces
    }
}

func call(_ id: String, _ name: String, _ input: JSON = [:]) -> Message.Part {
    .call(ToolCall(id: id, name: name, input: input))
}
