import Capabilities
public import JSON
import Synchronization

/// How long a call may take.
public struct RPCTimeLimit: Sendable, Hashable {
    /// The time without an answer or a sign of progress.
    public var silence: Duration
    /// The time for all of it.
    public var total: Duration

    /// A call that is not extended by progress, or one that is up to a total.
    public init(_ silence: Duration, upTo total: Duration? = nil) {
        self.silence = silence
        self.total = max(silence, total ?? silence)
    }

    /// A limit that progress does not extend.
    public static func seconds(_ seconds: Int) -> RPCTimeLimit { RPCTimeLimit(.seconds(seconds)) }
}

/// A call that waits for its answer.
struct PendingCall {
    let method: String
    let promise = Promise<JSON>()
    let limit: RPCTimeLimit?
    let progress: (@Sendable (JSON) -> Void)?
    private(set) var begun = ContinuousClock.now
    /// Since when it waits for a person.
    private var waitsSince: ContinuousClock.Instant?
    /// When it is late; nil for never.
    var deadline: ContinuousClock.Instant?

    init(_ method: String, _ limit: RPCTimeLimit?, _ progress: (@Sendable (JSON) -> Void)?) {
        self.method = method
        self.limit = limit
        self.progress = progress
        deadline = limit.map { begun + $0.silence }
    }

    /// Gives it more time, since something happens.
    mutating func extend(at now: ContinuousClock.Instant = .now) {
        guard let limit, waitsSince == nil else { return }
        deadline = min(now + limit.silence, begun + limit.total)
    }

    /// Stops its time, or lets it go on.
    mutating func wait(_ waits: Bool, at now: ContinuousClock.Instant = .now) {
        if waits {
            waitsSince = waitsSince ?? now
            deadline = nil
        } else if let since = waitsSince {
            begun += since.duration(to: now)
            waitsSince = nil
            extend(at: now)
        }
    }
}

extension RPCConnection {
    /// Calls a method of the peer and returns its result.
    ///
    /// If the task is cancelled or the time is over, the peer is told, and what it still answers is ignored.
    ///
    /// - Parameters:
    ///   - limit: nil for a call that may take as long as the connection lives.
    ///   - isCancellable: whether the protocol lets this request be cancelled.
    ///   - progress: gets the parameters of each sign of progress, one at a time; it must not wait.
    /// - Throws: `RPCFailure`, and `CancellationError`.
    public func call(
        _ method: String, _ params: JSONObject? = nil, within limit: RPCTimeLimit? = nil,
        isCancellable: Bool = true, progress: (@Sendable (JSON) -> Void)? = nil
    ) async throws -> JSON {
        let call = PendingCall(method, limit, progress)
        let number = try begin(call)
        if let deadline = call.deadline { expect(deadline) }
        let id = RPCID(number)
        let given = progress == nil ? params : conventions.marked(params, id)
        do throws(RPCFailure) {
            try send(.request(RPCRequest(id, method, given.map { .object($0) })))
        } catch {
            defer { state.withLock { _ = $0.calls.removeValue(forKey: number) } }
            guard error.kind == .closed else { throw error }
            // A peer that is gone says why in a moment, which helps more than that it no longer reads.
            if let answer = try await withTimeLimit(
                Self.endPause, on: ContinuousClock(), { try await call.promise.value() })
            {
                return answer
            }
            throw error
        }
        do {
            return try await call.promise.value()
        } catch let error as CancellationError {
            if state.withLock({ $0.calls.removeValue(forKey: number) }) != nil, isCancellable {
                cancel(id, "it is no longer wanted")
            }
            throw error
        }
    }

    /// How long the end of a peer that no longer reads is waited for.
    private static let endPause = Duration.seconds(1)

    private func cancel(_ id: RPCID, _ reason: String) {
        guard let notice = conventions.cancellation else { return }
        do throws(RPCFailure) {
            try notify(notice.method, [notice.member: id.json, "reason": .string(reason)])
        } catch {
            // The connection is over, and with it the request.
        }
    }

    func progress(_ id: RPCID, _ notification: RPCNotification) {
        guard let number = id.number else { return }
        let call = state.withLock { state -> PendingCall? in
            state.calls[number]?.extend()
            return state.calls[number]
        }
        call?.progress?(notification.params ?? [:])
    }

    /// A request waits for a person, or no longer does.
    func wait(_ id: RPCID, _ waits: Bool) {
        guard let number = id.number else { return }
        let deadline = state.withLock { state in
            state.calls[number]?.wait(waits)
            return state.calls[number]?.deadline
        }
        if let deadline { expect(deadline) }
    }

    // MARK: Time

    /// Wakes the task that looks for late calls if it would come too late for this one.
    private func expect(_ deadline: ContinuousClock.Instant) {
        let isSooner = state.withLock { state in
            if let looksAt = state.looksAt, looksAt <= deadline { return false }
            state.looksAt = deadline
            return true
        }
        if isSooner { lateness.raise() }
    }

    /// Ends the calls whose time is over. It sleeps until the earliest deadline that it knows of, so that calls which are
    /// answered in time cost it nothing.
    func endLateCalls() async throws {
        var seen = 0
        while true {
            let next = state.withLock { state in
                state.looksAt = state.calls.values.compactMap(\.deadline).min()
                return state.looksAt
            }
            seen = try await waitForNews(beyond: seen, until: next)
            let now = ContinuousClock.now
            let late = state.withLock { state in
                let late = state.calls.filter { $0.value.deadline.map { $0 <= now } == true }
                for number in late.keys { state.calls[number] = nil }
                return late
            }
            for (number, call) in late {
                cancel(RPCID(number), "it took too long")
                call.promise.settle(with: .failure(lateFailure(call)))
            }
        }
    }

    private func lateFailure(_ call: PendingCall) -> RPCFailure {
        let limit = call.limit ?? .seconds(0)
        let words =
            call.begun.duration(to: .now) >= limit.total && limit.total > limit.silence
            ? "did not finish \(call.method) within \(limit.total.words)"
            : "did not answer \(call.method) within \(limit.silence.words)"
        return RPCFailure(.timedOut, "\(peer) \(words)")
    }

    private func waitForNews(beyond seen: Int, until deadline: ContinuousClock.Instant?) async throws -> Int {
        guard let deadline else { return try await lateness.wait(beyond: seen) }
        return try await lateness.wait(beyond: seen) { try await ContinuousClock().sleep(until: deadline) }
    }
}
