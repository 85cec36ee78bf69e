import Capabilities
import JSON
import RPCKit
import Synchronization

/// The tasks of all clients of a server. Each ends with its connection, with its time, or with the server.
final class ServerTasks: Sendable {
    private struct State {
        var next = 1
        var tasks: [String: ServerTask] = [:]
        /// The sizes of the results.
        var sizes: [String: Int] = [:]
        var listeners: [Int: @Sendable (ServerTask) -> Void] = [:]
    }

    let limits: MCPTaskLimits
    private let state = Mutex(State())

    init(_ limits: MCPTaskLimits) {
        self.limits = limits
    }

    // MARK: Tasks

    /// Makes a call a task, which is cancelled when its time is over.
    ///
    /// - Parameters:
    ///   - request: the request that begins it, by the current task.
    ///   - wanted: how long its client wants it to be kept.
    /// - Throws: `RPCError` if there are too many that run or have results which nobody has asked for, `CancellationError` if
    ///   the owner is over or the request is cancelled.
    func begin(
        _ call: ServerCall, by request: RPCID, of claim: ServerTask.Claim, _ version: MCPVersion,
        wanted: Duration? = nil,
        in owner: TaskOwner
    ) throws -> ServerTask {
        let life = min(max(wanted ?? limits.life.upperBound, limits.life.lowerBound), limits.life.upperBound)
        let (task, forgotten) = try state.withLock { state throws(RPCError) -> (ServerTask, ServerTask?) in
            let own = state.tasks.values.filter { $0.claim == claim }
            var forgotten: ServerTask?
            if own.count >= limits.each || state.tasks.count >= limits.all {
                forgotten = Self.oldest(own)
                guard let forgotten else {
                    let limit = own.count >= limits.each ? "\(limits.each) of one client" : "\(limits.all) in all"
                    throw RPCError(
                        RPCError.internalError, "as many tasks run or wait to be asked for as may at once: \(limit)")
                }
                Self.remove(forgotten, from: &state)
            }
            let task = ServerTask(
                call, by: request, claim, version, number: state.next, life: life, pause: limits.pause)
            state.next += 1
            state.tasks[task.id] = task
            return (task, forgotten)
        }
        forgotten?.abandon()
        let keeper = owner.start { await self.keep(task) }
        task.adopt(keeper)
        // A client that has cancelled the request never learns of the task.
        guard keeper != nil, !Task.isCancelled else {
            remove(task)
            task.abandon()
            throw CancellationError()
        }
        return task
    }

    /// Cancels the task that a request has begun, when the client cancels the request: it has not seen the answer.
    func cancel(begunBy request: RPCID, of claim: ServerTask.Claim) {
        for task in all(of: claim) where task.request == request { _ = task.cancel() }
    }

    /// The task with this id, if it belongs to the client.
    func find(_ id: String, of claim: ServerTask.Claim) throws(RPCError) -> ServerTask {
        guard let task = state.withLock({ $0.tasks[id] }), task.claim == claim else {
            throw RPCError(RPCError.invalidParams, "there is no task \(PlainText.escape(id, limit: 80))")
        }
        return task
    }

    /// The tasks of a client, in the order in which they began.
    func all(of claim: ServerTask.Claim) -> [ServerTask] {
        let own = state.withLock { state in state.tasks.values.filter { $0.claim == claim } }
        return own.sorted { $0.number < $1.number }
    }

    /// Forgets the tasks of an owner, which ends them itself.
    func drop(of owner: TaskOwner) {
        state.withLock { state in
            for task in state.tasks.values where task.claim.owner == ObjectIdentifier(owner) {
                Self.remove(task, from: &state)
            }
        }
    }

    /// The tasks that are kept.
    var all: [ServerTask] { state.withLock { Array($0.tasks.values) } }
    var count: Int { state.withLock { $0.tasks.count } }

    // MARK: Life

    /// Tells what becomes of a task until its time is over.
    private func keep(_ task: ServerTask) async {
        do {
            _ = try await withTimeLimit(task.life, on: ContinuousClock()) {
                try await self.follow(task)
                // Its result is kept until its client has had time to ask for it.
                try await Promise<Void>().value()
            }
        } catch {
            // It was forgotten, or its connection or the server ends.
        }
        task.call.cancel()
        await task.call.end()
        remove(task)
    }

    private func follow(_ task: ServerTask) async throws {
        var last = MCPTask.Status.working
        while true {
            let seen = task.call.news.count
            let isOver = task.isOver
            let status = task.status
            if status != last {
                last = status
                task.note(status)
                tell(task)
            }
            if isOver { return }
            try await task.call.news.wait(beyond: seen)
        }
    }

    /// Keeps the result of a task if there is room for it, and tells why not else.
    func keep(_ result: JSON, of task: ServerTask) -> MCPError? {
        let size = result.text().utf8.count
        let (forgotten, isKept) = state.withLock { state -> ([ServerTask], Bool) in
            guard state.tasks[task.id] != nil, size <= limits.result else { return ([], false) }
            var forgotten: [ServerTask] = []
            while state.sizes.values.reduce(size, +) > limits.results {
                let own = state.tasks.values.filter { $0.claim == task.claim && state.sizes[$0.id] != nil }
                guard let oldest = Self.oldest(own) else { return (forgotten, false) }
                Self.remove(oldest, from: &state)
                forgotten.append(oldest)
            }
            state.sizes[task.id] = size
            return (forgotten, true)
        }
        for task in forgotten { task.abandon() }
        if isKept { return nil }
        return MCPError(
            .limit,
            "the result has \(ByteCount(size).words); the limit is \(ByteCount(limits.result).words) for one task and "
                + "\(ByteCount(limits.results).words) for all")
    }

    /// The oldest one that nobody misses.
    private static func oldest(_ tasks: [ServerTask]) -> ServerTask? {
        tasks.filter(\.isSpent).min { $0.number < $1.number }
    }

    private func remove(_ task: ServerTask) { state.withLock { Self.remove(task, from: &$0) } }

    private static func remove(_ task: ServerTask, from state: inout State) {
        state.tasks[task.id] = nil
        state.sizes[task.id] = nil
    }

    // MARK: Those who are told

    /// Calls a function with each task whose status changes until `removeListener`; it must not wait.
    func add(_ listener: @escaping @Sendable (ServerTask) -> Void) -> Int {
        state.withLock { state in
            defer { state.next += 1 }
            state.listeners[state.next] = listener
            return state.next
        }
    }

    func removeListener(_ number: Int) { state.withLock { $0.listeners[number] = nil } }

    private func tell(_ task: ServerTask) {
        let listeners = state.withLock { Array($0.listeners.values) }
        for listener in listeners { listener(task) }
    }
}
