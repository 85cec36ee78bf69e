public import Capabilities
public import JSON
import Synchronization

/// A person at a terminal who gives the answers of a script, and records the questions.
public final class ScriptedPerson: Interaction {
    /// The answer to a question for which the script has none.
    public enum Otherwise: Sendable {
        /// The question fails, as if nobody were there.
        case leaves
        /// No to a confirmation, the default or an empty line to a text, and an empty secret. A choice fails.
        case declines
        /// The closure answers; it may take as long as a person does.
        case answers(@Sendable (Question) async throws -> Answer)
    }

    private struct State {
        var answers: [String: [JSON]]
        var questions: [Question] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var before: [Int: @Sendable () throws -> Void] = [:]
    }

    private let state: Mutex<State>
    private let otherwise: Otherwise

    /// - Parameters:
    ///   - answers: by question id, in order.
    ///   - showsForms: whether several values are answered together.
    ///   - otherwise: what happens at a question without an answer. A composition ends there in any case.
    public init(_ answers: [String: [JSON]] = [:], showsForms: Bool = false, otherwise: Otherwise = .leaves) {
        state = Mutex(State(answers: answers))
        self.showsForms = showsForms
        self.otherwise = otherwise
    }

    /// A person who confirms or refuses everything.
    public convenience init(says yes: Bool) {
        self.init(otherwise: .answers { _ in .confirm(yes) })
    }

    public var canAsk: Bool { true }
    public let showsForms: Bool

    /// The questions, in order.
    public var questions: [Question] { state.withLock { $0.questions } }
    /// The ids of the questions, in order.
    public var asked: [String] { questions.map(\.id) }
    /// The prompts of the questions, in order.
    public var prompts: [String] { questions.map(\.prompt) }
    /// The number of answers that were not used.
    public var left: Int { state.withLock { $0.answers.values.reduce(0) { $0 + $1.count } } }

    /// The line history of each composition.
    public var histories: [[String]] {
        questions.compactMap { if case .composition(let history, _) = $0.kind { history } else { nil } }
    }

    /// The completions of the last composition.
    public var completions: [String] {
        questions.compactMap { if case .composition(_, let completions) = $0.kind { completions } else { nil } }.last
            ?? []
    }

    /// The options of each choice.
    public var options: [[String]] {
        questions.compactMap { if case .choice(let options) = $0.kind { options } else { nil } }
    }

    /// Runs something before the composition with this number is answered, counted from 1.
    public func beforeLine(_ number: Int, _ body: @escaping @Sendable () throws -> Void) {
        state.withLock { $0.before[number] = body }
    }

    /// Returns when this many questions were asked.
    public func wasAsked(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.questions.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    public func answer(_ question: Question) async throws -> Answer {
        if case .form(let form) = question.kind, !showsForms {
            return .form(try await form.filled(question.id, one: answer))
        }
        let (answer, before, woken) = state.withLock { state in
            state.questions.append(question)
            let count = state.questions.count
            let woken = state.watchers.filter { $0.count <= count }
            state.watchers.removeAll { $0.count <= count }
            var before: (@Sendable () throws -> Void)?
            if case .composition = question.kind {
                let line = state.questions.count { if case .composition = $0.kind { true } else { false } }
                before = state.before.removeValue(forKey: line)
            }
            var answer: JSON?
            if var left = state.answers[question.id], !left.isEmpty {
                answer = left.removeFirst()
                state.answers[question.id] = left
            }
            return (answer, before, woken)
        }
        for watcher in woken { watcher.continuation.resume() }
        try before?()
        if case .composition = question.kind { return .composition(answer?.string.map { WrittenText($0) }) }
        switch (answer, otherwise) {
        case (nil, .declines):
            switch question.kind {
            case .confirm: return .confirm(false)
            case .text(let defaultValue): return .text(defaultValue ?? "")
            case .secret: return .secret(Secret(""))
            case .composition, .choice, .form: break
            }
        case (nil, .answers(let body)): return try await body(question)
        default: break
        }
        return try await HeadlessInteraction(answers: answer.map { [question.id: $0] } ?? [:]).answer(question)
    }
}
