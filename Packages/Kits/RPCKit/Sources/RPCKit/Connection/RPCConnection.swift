import Capabilities
public import JSON
import Synchronization

/// A connection to a peer, over which both sides call each other.
///
///     let connection = RPCConnection(to: "the server 'git'", over: StreamTransport(channel), handler: handler)
///     try await connection.whileRunning {
///         let tools = try await connection.call("tools/list", within: .seconds(30))
///     }
///
/// One task runs it; any number of tasks call. Every wait ends: by an answer, by its time, by cancellation, or with the
/// connection.
public final class RPCConnection: Sendable {
    /// How much may happen at once.
    public struct Limits: Sendable, Hashable {
        /// The calls that wait for their answers.
        public var calls: Int
        /// The requests of the peer that are being answered.
        public var requests: Int

        /// The program uses the defaults.
        public init(calls: Int = 100, requests: Int = 100) {
            self.calls = calls
            self.requests = requests
        }
    }

    struct State {
        var nextID = 1
        var calls: [Int: PendingCall] = [:]
        /// The requests of the peer that are being answered. Their tasks are awaited before `run` returns.
        var serving: [RPCID: Task<Void, Never>] = [:]
        /// Why nothing can be sent any more.
        var end: RPCFailure?
        /// When the task that looks for late calls does so next.
        var looksAt: ContinuousClock.Instant?
    }

    /// What people know the other side by.
    public let peer: String
    let conventions: RPCConventions
    let state = Mutex(State())
    let lateness = Signal()
    private let transport: any RPCTransport
    private let handler: any RPCHandler
    private let limits: Limits
    private let answersMalformed: Bool

    /// A connection that is not running yet.
    ///
    /// - Parameters:
    ///   - peer: what people know the other side by, such as `the server 'git'`.
    ///   - answersMalformed: whether what is no message is answered by an error, as a server does. Otherwise only the
    ///     handler is told, because a program that writes anything else to its output does not read answers to it.
    public init(
        to peer: String, over transport: any RPCTransport, conventions: RPCConventions = RPCConventions(),
        handler: any RPCHandler, limits: Limits = Limits(), answersMalformed: Bool = false
    ) {
        self.peer = peer
        self.transport = transport
        self.conventions = conventions
        self.handler = handler
        self.limits = limits
        self.answersMalformed = answersMalformed
    }

    /// Runs the connection until the peer or `close` ends it. Returns when all that it started is over.
    ///
    /// - Throws: why it ended, unless the peer or `close` ended it in the usual way.
    public func run() async throws {
        let result: Result<Void, any Error>
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.endLateCalls() }
                defer { group.cancelAll() }
                try await transport.run { self.take($0) }
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        let isClosed = failure != nil
        let reason = await end(because: result)
        if case .failure(let error) = result, !isClosed { throw error is CancellationError ? error : reason }
    }

    /// Runs the connection for as long as `body` does, and closes it then.
    public func whileRunning<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.run() }
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            close()
            do { try await group.next() } catch {
                // Why the connection ended was thrown by each call that needed it.
            }
            return try result.get()
        }
    }

    /// Ends the connection: calls fail, and `run` returns.
    public func close() {
        state.withLock { state in
            if state.end == nil { state.end = RPCFailure(.closed, "the connection to \(peer) was closed") }
        }
        transport.close()
    }

    /// Why nothing can be sent any more; nil while it can.
    public var failure: RPCFailure? { state.withLock { $0.end } }

    private func end(because result: Result<Void, any Error>) async -> RPCFailure {
        let (calls, serving, failure) = state.withLock { state in
            let failure: RPCFailure
            if let end = state.end {
                failure = end
            } else if case .failure(let error) = result, !(error is CancellationError) {
                let kind = (error as? RPCFailure)?.kind ?? .closed
                failure = RPCFailure(kind, "the connection to \(peer) ended: \(AnyFailure(error).message)")
            } else {
                failure = RPCFailure(.closed, "\(peer) has closed the connection")
            }
            state.end = failure
            defer { (state.calls, state.serving) = ([:], [:]) }
            return (Array(state.calls.values), Array(state.serving.values), failure)
        }
        for call in calls { call.promise.settle(with: .failure(failure)) }
        for task in serving { task.cancel() }
        for task in serving { await task.value }
        return failure
    }

    // MARK: Sending

    /// Sends a notification.
    public func notify(_ method: String, _ params: JSONObject? = nil) throws(RPCFailure) {
        try send(.notification(RPCNotification(method, params.map { .object($0) })))
    }

    func send(_ message: RPCMessage) throws(RPCFailure) {
        if let end = failure { throw end }
        do throws(RPCFailure) { try transport.send(message) } catch {
            throw RPCFailure(error.kind, "nothing can be sent to \(peer): \(error.message)")
        }
    }

    /// Reserves an id for a call.
    func begin(_ call: PendingCall) throws(RPCFailure) -> Int {
        try state.withLock { (state) throws(RPCFailure) in
            if let end = state.end { throw end }
            guard state.calls.count < limits.calls else {
                throw RPCFailure(
                    .limit, "\(limits.calls) calls of \(peer) wait for their answers already, which is the limit")
            }
            defer { state.nextID += 1 }
            state.calls[state.nextID] = call
            return state.nextID
        }
    }

    // MARK: Receiving

    private func take(_ event: RPCEvent) {
        switch event {
        case .message(.response(let response)): take(response)
        case .message(.notification(let notification)): take(notification)
        case .message(.request(let request)): take(request)
        case .malformed(let malformed): take(malformed)
        case .failed(let id, let error): fail(id, error)
        case .waits(let id, let waits): wait(id, waits)
        }
    }

    private func take(_ response: RPCResponse) {
        guard let id = response.id else {
            if case .failure(let error) = response.result { handler.tell(.errorWithoutID(error)) }
            return
        }
        let (call, isOurs) = state.withLock { state in
            guard let number = id.number else { return (PendingCall?.none, false) }
            // A second answer, and one that comes too late, is for a call that is over.
            return (state.calls.removeValue(forKey: number), 1..<state.nextID ~= number)
        }
        guard let call else {
            if !isOurs { handler.tell(.unknownID(id)) }
            return
        }
        switch response.result {
        case .success(let result): call.promise.settle(result)
        case .failure(let error):
            let message = "\(peer) refused \(call.method): \(PlainText.escape(error.message)) (\(error.code))"
            call.promise.settle(with: .failure(RPCFailure(.refused, message, error: error)))
        }
    }

    private func take(_ notification: RPCNotification) {
        if let id = RPCConventions.id(in: notification, of: conventions.cancellation) {
            state.withLock { $0.serving[id] }?.cancel()
        } else if let id = RPCConventions.id(in: notification, of: conventions.progress) {
            progress(id, notification)
        } else {
            handler.receive(notification)
        }
    }

    /// The tasks are kept, so that they can be cancelled one by one, and are awaited at the end.
    private func take(_ request: RPCRequest) {
        let problem = state.withLock { state -> RPCProblem? in
            if state.end != nil { return nil }
            if state.serving[request.id] != nil { return .repeatedID(request.id) }
            if state.serving.count >= limits.requests { return .tooManyRequests(limits.requests) }
            state.serving[request.id] = Task { await self.answer(request) }
            return nil
        }
        guard let problem else { return }
        handler.tell(problem)
        // The id of a request that is being answered already would be answered twice.
        if case .repeatedID = problem { return }
        reply(request.id, .failure(RPCError(RPCError.internalError, "too many requests at once: \(problem)")))
    }

    private func answer(_ request: RPCRequest) async {
        var result: Result<JSON, RPCError>?
        do {
            result = .success(try await handler.answer(request))
        } catch let error as RPCError {
            result = .failure(error)
        } catch let error where error is CancellationError || Task.isCancelled {
            // A request that was cancelled is not answered.
        } catch {
            let failure = AnyFailure(error)
            result = .failure(
                RPCError(RPCError.internalError, failure.message, data: ["code": .string(failure.code)]))
        }
        state.withLock { _ = $0.serving.removeValue(forKey: request.id) }
        if let result { reply(request.id, result) }
    }

    private func take(_ malformed: RPCMalformed) {
        handler.tell(.malformed(malformed))
        // An answer that cannot be read is the end of the call that it is for.
        if malformed.isResponse {
            if let id = malformed.id {
                fail(id, RPCFailure(.malformed, "the answer cannot be read: \(malformed.error.message)"))
            }
        } else if answersMalformed {
            reply(malformed.id, .failure(malformed.error))
        }
    }

    private func reply(_ id: RPCID?, _ result: Result<JSON, RPCError>) {
        do throws(RPCFailure) {
            try send(.response(RPCResponse(id, result)))
        } catch {
            // A peer that does not read its answers is of no use any more, and would wait for this one for ever.
            if error.kind == .limit { close() }
        }
    }

    /// Fails one call, or all of them if it is not known which.
    private func fail(_ id: RPCID?, _ error: any Error) {
        let calls = state.withLock { state -> [PendingCall] in
            if let id {
                guard let number = id.number, let call = state.calls.removeValue(forKey: number) else { return [] }
                return [call]
            }
            defer { state.calls = [:] }
            return Array(state.calls.values)
        }
        for call in calls {
            let failure = error as? RPCFailure ?? RPCFailure(.closed, AnyFailure(error).message)
            call.promise.settle(
                with: .failure(RPCFailure(failure.kind, "\(peer) did not answer \(call.method): \(failure.message)")))
        }
    }
}
