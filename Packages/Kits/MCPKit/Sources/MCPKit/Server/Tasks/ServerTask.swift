import Capabilities
import HTTPServer
import JSON
import RPCKit
import Synchronization

/// A call that goes on after its request was answered. Its client asks for it later, by an id that nobody can guess.
final class ServerTask: Sendable {
    /// Whose it is. Nobody else learns that there is such a task.
    struct Claim: Sendable, Hashable {
        /// The connection, or all of HTTP.
        let owner: ObjectIdentifier
        let principal: Principal?

        init(_ owner: TaskOwner, _ principal: Principal?) {
            self.owner = ObjectIdentifier(owner)
            self.principal = principal
        }
    }

    private struct State {
        var updated: Timestamp
        var message: String?
        var isCancelled = false
        /// Whether its client knows what became of it.
        var isTold = false
        var keeper: TaskOwner.Handle?
    }

    let id = RandomToken.make()
    /// The request that began it.
    let request: RPCID
    let call: ServerCall
    let claim: Claim
    let version: MCPVersion
    /// Its place among the tasks of the server.
    let number: Int
    /// How long it is kept.
    let life: Duration
    private let pause: Duration
    private let created = Timestamp.now()
    private let state: Mutex<State>

    init(
        _ call: ServerCall, by request: RPCID, _ claim: Claim, _ version: MCPVersion, number: Int, life: Duration,
        pause: Duration
    ) {
        self.request = request
        self.call = call
        self.claim = claim
        self.version = version
        self.number = number
        self.life = life
        self.pause = pause
        state = Mutex(State(updated: created))
    }

    // MARK: What it has come to

    var status: MCPTask.Status {
        if state.withLock({ $0.isCancelled }) { return .cancelled }
        switch call.outcome {
        case nil: return .working
        case .questions: return .inputRequired
        // The legacy era calls a tool that fails a task that fails.
        case .finished(.success(let result)):
            return !version.isModern && result["isError"] == true ? .failed : .completed
        case .finished(.failure): return .failed
        }
    }

    /// Whether its work is over, also that of one that was cancelled.
    var isOver: Bool { call.result != nil }

    /// Whether nobody misses anything if it is forgotten.
    var isSpent: Bool { isOver && state.withLock { $0.isTold } }

    /// Its client knows what became of it.
    func tell() { state.withLock { $0.isTold = true } }

    /// The result of its call, or its error as clients are told it.
    var result: Result<JSON, RPCError>? {
        switch call.result {
        case nil: nil
        case .success(let result): .success(result)
        case .failure(let error): .failure(MCPServer.error(error, version) ?? Self.cancellation)
        }
    }

    static let cancellation = RPCError(RPCError.internalError, "the task was cancelled")

    // MARK: What happens to it

    /// Passes progress on to who asks for the task, in words.
    func heed(_ step: MCPProgress) {
        let number = step.value.formatted
        let count = step.total.map { "\(number) of \($0.formatted)" } ?? number
        note(saying: step.message.map { "\($0) (\(count))" } ?? count)
    }

    /// Another status was seen. What is over says why it failed, and nothing of its progress.
    func note(_ status: MCPTask.Status) {
        switch status {
        case .completed: note(saying: nil)
        case .failed:
            if case .failure(let error)? = result { note(saying: error.message) } else { note(saying: nil) }
        case .working, .inputRequired, .cancelled: state.withLock { $0.updated = .now() }
        }
    }

    private func note(saying message: String?) {
        state.withLock { ($0.updated, $0.message) = (.now(), message) }
    }

    /// Ends its work; false if it is over already.
    func cancel() -> Bool {
        guard !isOver else { return false }
        let isFirst = state.withLock { state in
            guard !state.isCancelled else { return false }
            (state.isCancelled, state.isTold) = (true, true)
            (state.updated, state.message) = (.now(), "cancelled by the client")
            return true
        }
        if isFirst {
            call.cancel()
            call.news.raise()
        }
        return isFirst
    }

    /// What waits for its end, and ends with it.
    func adopt(_ keeper: TaskOwner.Handle?) { state.withLock { $0.keeper = keeper } }

    /// Ends its work without a word.
    func abandon() {
        call.cancel()
        state.withLock { $0.keeper }?.cancel()
    }

    // MARK: As clients see it

    /// The task as its revision writes it, without what it has come to.
    var json: JSONObject {
        let status = status
        let (updated, message) = state.withLock { ($0.updated, $0.message) }
        let (life, pause) = (JSON.int(life.wholeMilliseconds), JSON.int(pause.wholeMilliseconds))
        var members: JSONObject = [
            "taskId": .string(id), "status": .string(status.rawValue), "createdAt": .string(created.iso8601),
            "lastUpdatedAt": .string(updated.iso8601),
        ]
        if version.isModern {
            (members["ttlMs"], members["pollIntervalMs"]) = (life, pause)
        } else {
            (members["ttl"], members["pollInterval"]) = (life, pause)
        }
        members["statusMessage"] = message.map { .string($0) }
        return members
    }

    /// The task of the modern era with its questions, its result or its error.
    var details: JSONObject {
        var members = json
        // The status may be older than the outcome, which then tells what the next answer has.
        switch (members["status"]?.string, call.outcome) {
        case (MCPTask.Status.inputRequired.rawValue?, .questions(let questions)?):
            members["inputRequests"] = .object(questions)
        case (MCPTask.Status.completed.rawValue?, .finished(.success(var result))?):
            if var object = result.object {
                object["resultType"] = "complete"
                result = .object(object)
            }
            members["result"] = result
        case (MCPTask.Status.failed.rawValue?, .finished?):
            if case .failure(let error)? = result {
                var object: JSONObject = ["code": .int(error.code), "message": .string(error.message)]
                object["data"] = error.data
                members["error"] = .object(object)
            }
        default: break
        }
        return members
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: Int { Int(self / .milliseconds(1)) }
}

extension Double {
    /// Without a fraction where there is none.
    fileprivate var formatted: String { Int(exactly: self).map { "\($0)" } ?? "\(self)" }
}
