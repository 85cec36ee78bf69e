import Capabilities
import Glibc
import HTTPCore
import LoopKit
import Synchronization

/// Serves one client: reads its requests in sequence and answers each.
///
/// One task owns the connection and waits in it. The lock guards state that others also use: handlers that read a body
/// or write a stream from other tasks, the heartbeat, the loop that reports a hang-up, and the shutdown of the server.
final class Connection: Sendable {
    struct State {
        var transport: Transport
        var parser: RequestParser
        /// Received but unparsed bytes: the beginning of a body or of the next request.
        var unread: [UInt8] = []
        /// Bytes that must be sent to the client first.
        var outgoing: [UInt8] = []
        var sent = 0
        var exchange = Exchange()
        var isHungUp = false
        /// Whether a request is being answered; if not, the connection may be closed at any time.
        var isBusy = false
        /// Whether the server is shutting down, so that this request is the last.
        var isLast = false
    }

    /// The state of the current request.
    struct Exchange {
        /// Counts the requests, so that a writer or body that outlives its request cannot affect the next.
        var number = 0
        var body = BodyState.ended
        /// The total time spent waiting for the body.
        var waited = Duration.zero
        /// Whether the client waits for a 100 Continue before it sends the body.
        var owesContinue = false
        /// The head of a stream, which is sent with the first bytes.
        var head: [UInt8]?
        var isChunked = false
        /// The bytes that a stream of known length still has to write.
        var left: Int?
        var route: RouteEntry?
        /// Whether the status was sent and cannot change.
        var hasBegun = false
        var status: HTTPStatus?
        var written = 0
        /// The events of a stream that is observed.
        var events = 0
        /// The error behind an error response, for the span.
        var problem: (any Error)?
        /// The trace of the request, completed when the response has ended; nil if it is not observed.
        var observation: Observation?
        /// Since when an event stream has been silent; nil for all other responses.
        var quietSince: ContinuousClock.Instant?
        /// Whether a stream may be written to.
        var isOpen = false
        /// Whether its handler counts as running.
        var isCounted = false
        /// Whether it is a stream that ends only when one side leaves.
        var isEndless = false
    }

    enum BodyState {
        case open(received: Int)
        case ended
        case refused(RequestRefusal)
    }

    let id: UInt64
    let peer: PeerAddress
    let core: ServerCore
    let listener: ListenerFacts
    let descriptor: LoopDescriptor
    let state: Mutex<State>
    // A separate lock: cancelling runs the cancellation handlers of waiting code, which may need the other lock.
    private let task = Mutex<TaskHandle?>(nil)

    /// The task of a connection, so that others can cancel it.
    @safe
    private struct TaskHandle: @unchecked Sendable {
        // Used only under the lock, and removed before the task ends, so that it never outlives the task.
        private let task: UnsafeCurrentTask

        init(_ task: UnsafeCurrentTask) { unsafe self.task = task }

        func cancel() { unsafe task.cancel() }
    }

    init(
        id: UInt64, _ descriptor: LoopDescriptor, _ transport: Transport, peer: PeerAddress, listener: ListenerFacts,
        core: ServerCore
    ) {
        self.id = id
        self.descriptor = descriptor
        self.peer = peer
        self.listener = listener
        self.core = core
        state = Mutex(State(transport: transport, parser: RequestParser(limits: core.limits.parsing)))
    }

    /// Serves the client until either side ends the connection.
    func run() async {
        begin()
        var isNew = true
        while let stream = await nextStream(isNew), await play(stream) { isNew = false }
        end()
    }

    /// Makes the current task the one that others cancel.
    @inline(never)
    private func begin() {
        unsafe withUnsafeCurrentTask { task in
            if let handle = unsafe task.map({ unsafe TaskHandle($0) }) { self.task.withLock { $0 = handle } }
        }
        descriptor.setHangUpHandler { [weak self] in self?.hangUp() }
    }

    @inline(never)
    private func end() {
        task.withLock { $0 = nil }
        finish()
        descriptor.close()
    }

    /// Answers requests until an event stream begins, and returns it; nil when the connection has ended.
    ///
    /// A task keeps the memory of its deepest call until it ends, and a stream may last for hours, so the work before
    /// it runs in a separate task.
    @inline(never)
    private nonisolated(nonsending) func nextStream(_ isNew: Bool) async -> EventStream? {
        async let stream = serve(isNew)
        return await stream
    }

    private func serve(_ isNew: Bool) async -> EventStream? {
        do {
            if isNew, !(try await handshake()) { return nil }
            while let request = try await nextRequest() {
                let number = request.number
                let rest = try await observed(consume request)
                if case .nothing = rest { leave() }
                switch rest {
                case .events(let stream): return stream
                case .nothing(keeps: true): guard try await discardBody(of: number) else { return nil }
                case .nothing(keeps: false):
                    await linger()
                    return nil
                }
            }
        } catch {
            leave()
            await refuse(error)
        }
        return nil
    }

    /// Runs a stream to its end; false when the connection ends with it.
    @inline(never)
    private nonisolated(nonsending) func play(_ stream: EventStream) async -> Bool {
        defer { leave() }
        do {
            let keeps = isObserved ? try await observed(stream) : try await run(stream)
            if keeps { return try await discardBody(of: stream.number) }
            await linger()
            return false
        } catch {
            await refuse(error)
            return false
        }
    }

    // MARK: Counting

    /// Counts the handler of the current request; throws if too many are running.
    @inline(never)
    func enter() throws {
        try core.enter()
        state.withLock { $0.exchange.isCounted = true }
    }

    /// Ends the count, if there is one. A handler has ended when its response is complete, or the stream that it
    /// returned is.
    @inline(never)
    func leave() {
        let wasCounted = state.withLock { state in
            defer { state.exchange.isCounted = false }
            return state.exchange.isCounted
        }
        if wasCounted { core.leave() }
    }

    // MARK: Observing

    /// Whether the work for the current request is traced.
    private var isObserved: Bool { state.withLock { $0.exchange.observation != nil } }

    @inline(never)
    private nonisolated(nonsending) func observed(_ request: consuming ServerRequest) async throws -> Rest {
        guard let observation = core.observe(request) else { return try await respond(consume request) }
        state.withLock { $0.exchange.observation = observation }
        do {
            let rest = try await TraceContext.$current.withValue(observation.context) { [request] in
                try await respond(request)
            }
            if case .nothing = rest { record(nil) }
            return rest
        } catch {
            record(error)
            throw error
        }
    }

    @inline(never)
    private nonisolated(nonsending) func observed(_ stream: EventStream) async throws -> Bool {
        guard let context = state.withLock({ $0.exchange.observation?.context }) else { return try await run(stream) }
        do {
            let keeps = try await TraceContext.$current.withValue(context) { try await run(stream) }
            record(nil)
            return keeps
        } catch {
            record(error)
            throw error
        }
    }

    @inline(never)
    private func record(_ error: (any Error)?) {
        core.record(state.withLock { $0.exchange }, of: peer, error)
    }

    /// Called on the loop's thread: the peer closed its side, so work for it can stop.
    private func hangUp() {
        state.withLock { $0.isHungUp = true }
        cancel()
    }

    /// Cancels the work for the client.
    func cancel() {
        task.withLock { $0?.cancel() }
    }

    /// Ends the connection now if it is idle, otherwise after the current response.
    func drain() {
        let (isIdle, isEndless) = state.withLock { state in
            state.isLast = true
            return (!state.isBusy && state.parser.isBetweenRequests, state.exchange.isEndless && state.exchange.isOpen)
        }
        if isIdle { descriptor.close() }
        // It would use up all the time that others have to finish.
        if isEndless { cancel() }
    }

    /// Ends the connection now.
    func abort() {
        descriptor.close()
        cancel()
    }
}

extension Connection {
    /// Performs the TLS handshake; false when it fails or takes too long.
    nonisolated(nonsending) func handshake() async throws -> Bool {
        let deadline = ContinuousClock.now + core.limits.head
        while true {
            let moved = state.withLock { state -> Transport.Moved in
                guard case .tls(let channel) = state.transport else { return .bytes(0) }
                return descriptor.withDescriptor { _, ready in channel.handshake(&ready) } ?? .ended
            }
            switch moved {
            case .bytes: return true
            case .ended, .failed: return false
            case .wait(let direction):
                guard try await heed(direction, until: deadline) == .ready else { return false }
                if state.withLock({ $0.isHungUp }) { return false }
            }
        }
    }

    /// Tells the client that nothing more follows.
    func finish() {
        state.withLock { state in
            _ = descriptor.withDescriptor { descriptor, _ in state.transport.finish(descriptor) }
        }
    }
}

// MARK: Going

extension Connection {
    // Not inlined, because the buffer would become part of the task's memory.
    @inline(never)
    private func receiveAndForget() -> Transport.Moved {
        unsafe withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { buffer in
            state.withLock { state in unsafe receive(&state, buffer) }
        }
    }

    /// Lets the client read the last response before the connection closes: closing while the client still sends would
    /// make its system discard the response.
    nonisolated(nonsending) func linger() async {
        let deadline = ContinuousClock.now + .seconds(1)
        finish()
        var left = 4 << 20
        while left > 0 {
            switch receiveAndForget() {
            case .bytes(let count): left -= count
            case .ended, .failed: return
            case .wait(let direction):
                guard await descriptor.readyThroughCancellation(direction, until: deadline) == .ready else { return }
            }
        }
    }
}

// MARK: Other protocols

extension Connection {
    /// Receives for the code that took over the connection with that request number. `body` gets a function that
    /// receives into a buffer, and returns its result.
    func receive(
        of number: Int, _ body: ((UnsafeMutableRawBufferPointer) throws -> Int) throws -> Int
    ) -> Transport.Moved {
        state.withLock { state in
            guard state.exchange.number == number else { return .ended }
            var moved = Transport.Moved.failed
            do {
                _ = try unsafe body { buffer in
                    moved = unsafe receive(&state, buffer)
                    if case .bytes(let count) = moved { return count }
                    return 0
                }
            } catch {
                return .failed
            }
            return moved
        }
    }
}
