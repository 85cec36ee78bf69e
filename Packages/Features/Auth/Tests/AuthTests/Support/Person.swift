import Capabilities
import JSON
import Synchronization

/// Somebody at a terminal who answers by heart, and remembers what was asked.
final class Person: Interaction {
    private struct State {
        var answers: [String: [JSON]]
        var asked: [String] = []
        var prompts: [String] = []
    }

    private let state: Mutex<State>

    /// - Parameter answers: by question id, one after the other. Who has no answer says no and leaves lines empty.
    init(_ answers: [String: [JSON]] = [:]) {
        state = Mutex(State(answers: answers))
    }

    var canAsk: Bool { true }

    /// The ids of the questions, in their order.
    var asked: [String] { state.withLock { $0.asked } }
    var prompts: String { state.withLock { $0.prompts.joined(separator: "\n") } }

    func answer(_ question: Question) async throws -> Answer {
        let answer = state.withLock { state -> JSON? in
            state.asked.append(question.id)
            state.prompts.append(question.prompt)
            if case .choice(let options) = question.kind { state.prompts += options }
            guard var left = state.answers[question.id], !left.isEmpty else { return nil }
            let first = left.removeFirst()
            state.answers[question.id] = left
            return first
        }
        guard let answer else {
            switch question.kind {
            case .confirm: return .confirm(false)
            case .text(let standard): return .text(standard ?? "")
            case .secret: return .secret(Secret(""))
            case .composition: return .composition(nil)
            case .choice: throw InteractionError.unanswered(id: question.id, prompt: question.prompt)
            }
        }
        return try await HeadlessInteraction(answers: [question.id: answer]).answer(question)
    }
}
