import Capabilities
import Glibc
import HTTPCore
import LoopKit
import Synchronization

/// One client: reads its requests one after the other and answers each.
///
/// One task owns the connection and suspends in it. The lock guards what others touch too: handlers that read a body or
/// write a stream from tasks of their own, the heartbeat, the loop that tells of a hang-up, and the end of the server.
final class Connection: Sendable {
    struct State {
        var transport: Transport
        var parser: RequestParser
        /// Received and not parsed yet: the beginning of a body or of the next request.
        var unread: [UInt8] = []
        /// What the client has to be sent before anything else.
        var outgoing: [UInt8] = []
        var sent = 0
        var exchange = Exchange()
        var isHungUp = false
        /// Whether a request is being answered; otherwise the connection may be closed at any time.
        var isBusy = false
        /// Whether the server ends, so that no request is taken after this one.
        var isLast = false
    }

    /// What is known of the request that is being answered.
    struct Exchange {
        /// Counts the requests, so that a writer or a body that outlives its own cannot touch the next.
        var number = 0
        var body = BodyState.ended
        /// How long the body was waited for, all in all.
        var waited = Duration.zero
        /// Whether the client waits for a word before it sends the body.
        var owesContinue = false
        /// The head of a stream, which goes out with the first bytes.
        var head: [UInt8]?
        var isChunked = false
        /// How many bytes a stream of known length still has to write.
        var left: Int?
        var route: RouteEntry?
        /// Whether the status was told, so that it stands.
        var hasBegun = false
        var status: HTTPStatus?
        var written = 0
        /// The error behind an answer that tells of one, for the span.
        var problem: (any Error)?
        /// What is told when the answer has ended; nil where nobody wants to know.
        var observation: Observation?
        /// Since when an event stream was silent; nil for every other answer.
        var quietSince: ContinuousClock.Instant?
        /// Whether a stream may be written to.
        var isOpen = false
        /// Whether its handler is counted among those that run.
        var isCounted = false
        /// Whether it is a stream that only ends because one side goes.
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
    // A lock of its own: cancelling runs the handlers of whoever waits, and these may want the other one.
    private let task = Mutex<TaskHandle?>(nil)

    /// The task of a connection, for others to cancel.
    @safe
    private struct TaskHandle: @unchecked Sendable {
        // Used only under the lock, and taken out of it before the task ends, so that it never outlives the task.
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

    /// Serves the client until one of both has enough.
    func run() async {
        begin()
        var isNew = true
        while let stream = await nextStream(isNew), await play(stream) { isNew = false }
        end()
    }

    /// Makes the present task the one that others cancel.
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

    /// Answers until a stream of events begins, and gives that; nil when the connection has ended.
    ///
    /// A task keeps the memory of its deepest call until it ends, and a stream may last for hours, so that what leads to
    /// it has a task of its own.
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

    /// Counts the handler of the present request, and throws when there are too many.
    @inline(never)
    func enter() throws {
        try core.enter()
        state.withLock { $0.exchange.isCounted = true }
    }

    /// Ends the count, if there is one. A handler has ended when its answer is there, or the stream that it gave is.
    @inline(never)
    func leave() {
        let wasCounted = state.withLock { state in
            defer { state.exchange.isCounted = false }
            return state.exchange.isCounted
        }
        if wasCounted { core.leave() }
    }

    // MARK: Observing

    /// Whether the work for the present request has a place in a trace.
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

    /// On the thread of the loop: the peer has closed its side, so that whoever works for it can stop.
    private func hangUp() {
        state.withLock { $0.isHungUp = true }
        cancel()
    }

    /// Cancels what is being done for the client.
    func cancel() {
        task.withLock { $0?.cancel() }
    }

    /// Ends the connection where nothing is lost by it, and after the present answer otherwise.
    func drain() {
        let (isIdle, isEndless) = state.withLock { state in
            state.isLast = true
            return (!state.isBusy && state.parser.isBetweenRequests, state.exchange.isEndless && state.exchange.isOpen)
        }
        if isIdle { descriptor.close() }
        // It would last for all of the time that the others have to finish.
        if isEndless { cancel() }
    }

    /// Ends the connection now.
    func abort() {
        descriptor.close()
        cancel()
    }
}

extension Connection {
    /// Agrees on keys with the client; false when that fails or takes too long.
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

    /// Tells the client that nothing more comes.
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

    /// Lets the client read the last answer before the connection goes: closing while it still sends would make its
    /// system throw the answer away.
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
    /// Receives for whoever took the connection over with the request of that number. `body` is given the call that
    /// receives into a buffer, and gives back what that gave.
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
