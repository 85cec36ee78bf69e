import Capabilities
import Synchronization

/// Somebody who is asked and answers as the test says.
final class Person: Interaction {
    private struct State {
        var questions: [Question] = []
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    private let answer: @Sendable () async throws -> Bool

    /// - Parameter answer: yes or no; it may wait as a person does.
    init(_ answer: @escaping @Sendable () async throws -> Bool) {
        self.answer = answer
    }

    convenience init(says yes: Bool) { self.init { yes } }

    var canAsk: Bool { true }
    var questions: [Question] { state.withLock { $0.questions } }

    func answer(_ question: Question) async throws -> Answer {
        let woken = state.withLock { state in
            state.questions.append(question)
            defer { state.watchers.removeAll { $0.count <= state.questions.count } }
            return state.watchers.filter { $0.count <= state.questions.count }
        }
        for watcher in woken { watcher.continuation.resume() }
        return .confirm(try await answer())
    }

    /// Waits until so many questions were asked.
    func wasAsked(_ count: Int = 1) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.questions.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}

/// A door that one task opens for another.
struct Door: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func open() { continuation.finish() }

    /// Waits until it is open; throws when the task is cancelled before.
    func pass() async throws {
        for await _ in stream {}
        try Task.checkCancellation()
    }
}
