import Capabilities
import JSON
import Synchronization

/// A scripted user at a terminal. Without a remaining answer, the input ends.
final class Person: Interaction {
    private struct State {
        var answers: [String: [JSON]]
        var asked: [String] = []
        var histories: [[String]] = []
        var completions: [String] = []
        var prompts: [String] = []
        var options: [String] = []
        var before: [Int: @Sendable () throws -> Void] = [:]
    }

    private let state: Mutex<State>

    /// - Parameter answers: by question id, in order.
    init(_ answers: [String: [JSON]] = [:]) {
        state = Mutex(State(answers: answers))
    }

    /// A user who types these lines, in order.
    convenience init(types lines: String...) {
        self.init(["chat.message": lines.map { .string($0) }])
    }

    var canAsk: Bool { true }

    /// Runs something before the line with this number is typed.
    func beforeLine(_ number: Int, _ body: @escaping @Sendable () throws -> Void) {
        state.withLock { $0.before[number] = body }
    }

    /// The ids of the questions, in order.
    var asked: [String] { state.withLock { $0.asked } }

    /// The line history of each composition.
    var histories: [[String]] { state.withLock { $0.histories } }
    var completions: [String] { state.withLock { $0.completions } }
    var prompts: [String] { state.withLock { $0.prompts } }
    /// The options of the last choice.
    var options: [String] { state.withLock { $0.options } }

    func answer(_ question: Question) async throws -> Answer {
        if case .composition = question.kind {
            try state.withLock { $0.before.removeValue(forKey: $0.histories.count + 1) }?()
        }
        let answer = state.withLock { state -> JSON? in
            state.asked.append(question.id)
            state.prompts.append(question.prompt)
            if case .composition(let history, let completions) = question.kind {
                state.histories.append(history)
                state.completions = completions
            }
            if case .choice(let options) = question.kind { state.options = options }
            guard var left = state.answers[question.id], !left.isEmpty else { return nil }
            let first = left.removeFirst()
            state.answers[question.id] = left
            return first
        }
        if case .composition = question.kind { return .composition(answer?.string) }
        return try await HeadlessInteraction(answers: answer.map { [question.id: $0] } ?? [:]).answer(question)
    }
}
