import Capabilities
import JSON
import RPCKit
import Synchronization

/// A call while it runs, in either era.
///
/// In the legacy era the task that answers the request runs it, and questions are requests to the client. In the modern
/// era it has its own task, since one call lasts over several requests: `attend` waits for its result or its questions.
final class ServerCall: Sendable {
    /// The way to the client: that of the request which waits for the call at the moment.
    struct Line: Sendable {
        /// Names the progress; nil if the client does not want it.
        var token: JSON?
        /// The least serious log messages that the client wants; nil for none.
        var level: @Sendable () -> MCPLogEntry.Level?
        /// Sends a notification that belongs to the request.
        var notify: @Sendable (_ method: String, _ params: JSONObject) -> Void
        /// Is told each step of the progress, whether the client wants to know it or not.
        var step: (@Sendable (MCPProgress) -> Void)?
    }

    /// How questions reach the client.
    enum Asking: Sendable {
        /// By requests.
        case directly(@Sendable (_ method: String, _ params: JSONObject) async throws -> JSON)
        /// By the results of its requests, which it repeats with the answers within this time.
        case byResults(within: Duration)
    }

    /// What a request gets.
    enum Outcome: Sendable {
        case finished(Result<JSON, any Error>)
        case questions(JSONObject)
    }

    private struct Question {
        let method: String
        let params: JSONObject
        let promise: Promise<JSON>
        /// Whether it is being asked by a request.
        var isTaken = false

        var json: JSON { ["method": .string(method), "params": .object(params)] }
    }

    private struct State {
        var line: Line?
        /// The largest value of the progress so far.
        var progress = -Double.infinity
        var questions: [String: Question] = [:]
        var nextQuestion = 1
        var result: Result<JSON, any Error>?
        /// Tells why its result cannot be taken; nil if it can.
        var check: (@Sendable (JSON) -> (any Error)?)?
        var task: TaskOwner.Handle?
        /// Whether it was cancelled, perhaps before its task was known here.
        var isCancelled = false
    }

    private let asking: Asking
    private let state: Mutex<State>
    /// Raised when it is over, and when it has other questions than before.
    let news = Signal()

    init(_ asking: Asking, _ line: Line? = nil) {
        self.asking = asking
        state = Mutex(State(line: line))
    }

    // MARK: For the service

    func progress(_ step: MCPProgress) {
        guard step.value.isFinite else { return }
        // Sent under the lock, so that the values rise for the client too.
        state.withLock { state in
            guard let line = state.line, step.value > state.progress else { return }
            state.progress = step.value
            line.step?(step)
            if let token = line.token { line.notify("notifications/progress", step.json(token)) }
        }
    }

    func log(_ entry: MCPLogEntry) {
        state.withLock { state in
            guard let line = state.line, let least = line.level(), entry.level.rank >= least.rank else { return }
            line.notify("notifications/message", entry.json)
        }
    }

    func ask(_ method: String, _ params: JSONObject) async throws -> JSON {
        switch asking {
        case .directly(let ask): return try await ask(method, params)
        case .byResults(let limit):
            let question = Question(method: method, params: params, promise: Promise())
            let key = state.withLock { state in
                defer { state.nextQuestion += 1 }
                state.questions["q\(state.nextQuestion)"] = question
                return "q\(state.nextQuestion)"
            }
            defer {
                state.withLock { _ = $0.questions.removeValue(forKey: key) }
                news.raise()
            }
            news.raise()
            let answer = try await withTimeLimit(limit, on: ContinuousClock()) { try await question.promise.value() }
            guard let answer else {
                throw MCPError(.timedOut, "the client did not answer \(method) within \(limit.words)")
            }
            return answer
        }
    }

    // MARK: For the server

    /// What it has come to; nil while it runs and asks nothing.
    var outcome: Outcome? {
        state.withLock { state in
            if let result = state.result { return .finished(result) }
            guard !state.questions.isEmpty else { return nil }
            let questions = state.questions.sorted { $0.key < $1.key }
            return .questions(JSONObject(questions.map { ($0.key, $0.value.json) }))
        }
    }

    /// Its result, once it is over.
    var result: Result<JSON, any Error>? { state.withLock { $0.result } }

    /// What it tells goes this way until it is over, and not to a request. A result is only taken if the check finds no
    /// error in it.
    func lead(to line: Line, checking check: @escaping @Sendable (JSON) -> (any Error)?) {
        let early = state.withLock { state -> JSON? in
            if case .success(let result)? = state.result { return result }
            // What it leads to has the call itself, so that nothing of it may stay after the end.
            if state.result == nil { (state.line, state.check) = (line, check) }
            return nil
        }
        guard let early, let error = check(early) else { return }
        state.withLock { $0.result = .failure(error) }
    }

    /// Nothing is sent any more.
    func detach() { state.withLock { $0.line = nil } }

    /// Starts the call in its own task; false if its owner is over.
    func start(in owner: TaskOwner, _ body: @escaping @Sendable () async throws -> JSON) -> Bool {
        let handle = owner.start { [self] in
            var result: Result<JSON, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            while true {
                // A check may come while another one runs, and is made before the result can be seen.
                let check = state.withLock { state -> (@Sendable (JSON) -> (any Error)?)? in
                    if case .success = result, let check = state.check {
                        state.check = nil
                        return check
                    }
                    (state.result, state.check, state.line) = (result, nil, nil)
                    return nil
                }
                guard let check, case .success(let json) = result else { break }
                if let error = check(json) { result = .failure(error) }
            }
            news.raise()
        }
        // The body may run by now, and be cancelled already.
        let isCancelled = state.withLock { state in
            state.task = handle
            return state.isCancelled
        }
        if isCancelled { handle?.cancel() }
        return handle != nil
    }

    /// Waits until the call is over or has questions, for a request with this line.
    ///
    /// - Parameter end: when to stop waiting, which gives nil. `news` must be raised then.
    func attend(_ line: Line, until end: ContinuousClock.Instant? = nil) async throws -> Outcome? {
        state.withLock { $0.line = line }
        defer { detach() }
        while true {
            let seen = news.count
            if let outcome { return outcome }
            if let end, end <= .now { return nil }
            try await news.wait(beyond: seen)
        }
    }

    /// Hands over the client's answers. A question without one stays.
    func answer(_ answers: JSONObject) {
        let questions = state.withLock { state in
            let answered = state.questions.filter { answers[$0.key] != nil }
            for key in answered.keys { state.questions[key] = nil }
            return answered
        }
        for (key, question) in questions { question.promise.settle(answers[key] ?? nil) }
        if !questions.isEmpty { news.raise() }
    }

    /// Asks by requests what nobody asks yet. Each question is asked once, unless the one who asks is cancelled.
    func askQuestions(
        in group: inout ThrowingTaskGroup<Void, any Error>,
        _ ask: @escaping @Sendable (_ method: String, _ params: JSONObject) async throws -> JSON
    ) {
        let taken = state.withLock { state in
            let free = state.questions.filter { !$0.value.isTaken }
            for key in free.keys { state.questions[key]?.isTaken = true }
            return free
        }
        for (key, question) in taken {
            group.addTask {
                do {
                    self.answer([key: try await ask(question.method, question.params)])
                } catch {
                    if Task.isCancelled {
                        // Another request may ask it.
                        self.state.withLock { $0.questions[key]?.isTaken = false }
                        return self.news.raise()
                    }
                    question.promise.settle(with: .failure(error))
                }
            }
        }
    }

    /// Lets all questions fail.
    func refuse(_ error: MCPError) {
        let questions = state.withLock { state in
            defer { state.questions = [:] }
            return state.questions
        }
        for question in questions.values { question.promise.settle(with: .failure(error)) }
    }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// Waits until the task is over.
    func end() async { await state.withLock { $0.task }?.end() }
}

/// Owns tasks that may last longer than what started them, and awaits them when it ends.
final class TaskOwner: Sendable {
    /// One of the tasks.
    struct Handle: Sendable {
        fileprivate let task: Task<Void, Never>
        func cancel() { task.cancel() }
        func end() async { await task.value }
    }

    private struct State {
        var isOver = false
        var next = 0
        var tasks: [Int: Handle] = [:]
    }

    /// Wakes who waits for its calls.
    let timer = CallTimer()
    private let state = Mutex(State())

    /// Starts a task; nil when the owner is over.
    func start(_ body: @escaping @Sendable () async -> Void) -> Handle? {
        state.withLock { state in
            guard !state.isOver else { return nil }
            state.next += 1
            let number = state.next
            // Cancelled and awaited by `end`.
            let handle = Handle(
                task: Task {
                    await body()
                    self.state.withLock { $0.tasks[number] = nil }
                })
            state.tasks[number] = handle
            return handle
        }
    }

    /// The number of tasks that run.
    var count: Int { state.withLock { $0.tasks.count } }

    /// Cancels all tasks and returns when they are over.
    func end() async {
        let tasks = state.withLock { state in
            state.isOver = true
            return Array(state.tasks.values)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.end() }
    }
}

/// Texts that nobody can guess.
enum RandomToken {
    /// 192 bits of the system's random numbers.
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64URL.encode((0..<24).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }
}
