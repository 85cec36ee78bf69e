import Glibc
public import HTTPCore
import LoopKit
import Synchronization

/// An open WebSocket, from the client's side.
///
/// Nothing is read before somebody asks for a message, so a slow reader makes the server wait. Pings are answered while
/// a message is waited for. Any number of tasks may send; each message goes out whole.
public final class WebSocket: Sendable {
    /// The subprotocol that the server chose.
    public let subprotocol: String?
    /// The headers of the server's agreement.
    public let headers: HTTPHeaders
    /// The host and port.
    public let server: String

    struct State: ~Copyable {
        var machine: WebSocketMachine
        /// What is being written, and how much of it is; it must not change before it is written whole.
        var sending: [UInt8] = []
        var sent = 0
        /// Why nothing can be read any more.
        var end: Result<WebSocketClose, HTTPError>?
        /// The server was told what it did wrong, and may still be sending.
        var mustLinger = false
    }

    private let socket: CurlSocket
    private let descriptor: LoopDescriptor
    /// Taken within the lock of the descriptor, never the other way around.
    private let state: Mutex<State>
    private let turn = Turn()

    init(
        _ socket: CurlSocket, _ descriptor: LoopDescriptor, server: String, limits: WebSocketLimits,
        subprotocol: String?, headers: HTTPHeaders, early: [UInt8]
    ) {
        self.socket = socket
        self.descriptor = descriptor
        self.server = server
        self.subprotocol = subprotocol
        self.headers = headers
        var machine = WebSocketMachine(role: .client, limits: limits)
        unsafe early.withUnsafeBytes { unsafe machine.append($0) }
        state = Mutex(State(machine: machine))
    }

    deinit {
        // In this order: the descriptor belongs to the socket.
        descriptor.close()
        socket.close()
    }

    /// Why the server closed, once it has; nil while it is open or when it just went away.
    public var closeReason: WebSocketClose? {
        guard case .success(let close) = state.withLock({ $0.end }) else { return nil }
        return close
    }
}

// MARK: Sending

extension WebSocket {
    /// Sends a message, and waits while the server does not read.
    ///
    /// A message whose sending is cancelled half way is completed by the next use, so that the stream stays whole.
    public nonisolated(nonsending) func send(_ message: WebSocketMessage) async throws {
        try await write { $0.send(message) }
    }

    /// Sends a text.
    public nonisolated(nonsending) func send(_ text: String) async throws {
        try await send(.text(text))
    }

    /// Sends a ping with at most 125 bytes; its pong is one of the `inputs`.
    public nonisolated(nonsending) func ping(_ payload: [UInt8] = []) async throws {
        try await write { $0.ping(payload) }
    }

    private nonisolated(nonsending) func write(_ queue: (inout WebSocketMachine) -> Bool) async throws {
        try await turn.take()
        defer { turn.pass() }
        // What a cancelled sender left goes first, so that no more than one message waits here.
        try await flush()
        guard state.withLock({ queue(&$0.machine) }) else { throw closed }
        try await flush()
    }

    enum Flush {
        case done, blocked
        /// There is more, and others had to wait long enough.
        case turn
    }

    private nonisolated(nonsending) func flush() async throws {
        while true {
            switch try flushOnce() {
            case .done: return
            case .blocked: guard try await descriptor.writable() == .ready else { throw closed }
            case .turn: await Task.yield()
            }
        }
    }

    /// Writes what can be written now, and not much more than 256 KiB: encrypting takes time, in which the loop's thread
    /// may wait for the lock of this registration.
    func flushOnce() throws(HTTPError) -> Flush {
        let done = try descriptor.withDescriptor { (_, ready) throws(HTTPError) in
            try state.withLock { (state) throws(HTTPError) in try flush(&state, &ready) }
        }
        guard let done else { throw closed }
        return done
    }

    /// Puts a message behind what waits to be written.
    func queue(_ message: WebSocketMessage) -> Bool { state.withLock { $0.machine.send(message) } }

    /// How much of what is being written the system has not taken yet.
    var unsentCount: Int { state.withLock { $0.sending.count - $0.sent } }

    private func flush(_ state: inout State, _ ready: inout Readiness) throws(HTTPError) -> Flush {
        var left = 256 << 10
        while true {
            if state.sent == state.sending.count {
                guard state.machine.hasOutput else {
                    (state.sending, state.sent) = ([], 0)
                    return .done
                }
                (state.sending, state.sent) = (state.machine.takeOutput(), 0)
            }
            switch socket.send(state.sending, from: state.sent) {
            case .bytes(let count):
                state.sent += count
                left -= count
                if left <= 0 { return .turn }
            case .wouldBlock:
                ready.remove(.writable)
                return .blocked
            case .ended: throw closed
            case .failed(let words): throw broken(words)
            }
        }
    }

    private var closed: HTTPError {
        HTTPError(.closed, "the WebSocket to \(server) is closed; open a new one", server: server)
    }

    private func broken(_ words: String) -> HTTPError {
        HTTPError(.reset, "the WebSocket to \(server) broke: \(words)", server: server)
    }
}

// MARK: Receiving

extension WebSocket {
    /// The next message; nil once the server has closed, and `closeReason` tells why.
    ///
    /// Throws `HTTPError` when the connection broke, ended without a close, or the server broke the protocol; and
    /// `CancellationError`, after which the next call goes on where this one was.
    public nonisolated(nonsending) func receive() async throws -> WebSocketMessage? {
        while let input = try await receiveInput() {
            if case .message(let message) = input { return message }
        }
        return nil
    }

    /// The next message, ping or pong, each of which is a sign of life; nil once the server has closed.
    public nonisolated(nonsending) func receiveInput() async throws -> WebSocketReader.Input? {
        while true {
            // Also where the server sends so fast that there is nothing to wait for.
            try Task.checkCancellation()
            switch receiveOnce() {
            case .input(let input): return input
            case .end:
                await linger(until: .now + .milliseconds(300))
                finish()
                return try end()
            case .wait(let directions): guard try await descriptor.ready(directions) == .ready else { return try end() }
            }
        }
    }

    /// The messages, until the server closes. Every iterator goes on where the last reader stopped.
    public var messages: Messages { Messages(socket: self) }

    /// The sequence of `messages`.
    public struct Messages: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let socket: WebSocket

        /// This sequence itself.
        public func makeAsyncIterator() -> Messages { self }

        /// The next message, or nil when the server has closed.
        public func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> WebSocketMessage? {
            try await socket.receive()
        }
    }

    private enum Step {
        case input(WebSocketReader.Input)
        case wait(Readiness)
        case end
    }

    private func receiveOnce() -> Step {
        descriptor.withDescriptor { _, ready in state.withLock { receive(&$0, &ready) } } ?? .end
    }

    private func receive(_ state: inout State, _ ready: inout Readiness) -> Step {
        guard state.end == nil else { return .end }
        while true {
            do throws(WebSocketViolation) {
                switch try state.machine.next() {
                case .close(let close):
                    state.end = .success(close)
                    answer(&state, &ready)
                    return .end
                case let input?:
                    answer(&state, &ready)
                    return .input(input)
                case nil: break
                }
            } catch {
                let kind: HTTPError.Kind = error.closeCode == .tooLarge ? .tooLarge : .badAnswer
                state.end = .failure(
                    HTTPError(kind, "\(server) violated the WebSocket protocol: \(error.message)", server: server))
                state.mustLinger = true
                answer(&state, &ready)
                return .end
            }
            answer(&state, &ready)
            var moved = CurlSocket.Moved.wouldBlock
            _ = unsafe state.machine.fill(capacity: 1 << 16) { space in
                unsafe moved = socket.receive(into: space)
                if case .bytes(let count) = moved { return count }
                return 0
            }
            switch moved {
            case .bytes: continue
            case .wouldBlock:
                ready.remove(.readable)
                state.machine.releaseMemory()
                let hasOutput = state.machine.hasOutput || state.sent < state.sending.count
                return .wait(hasOutput ? [.readable, .writable] : .readable)
            case .ended:
                state.end = .failure(
                    HTTPError(.cut, "\(server) ended the connection without closing the WebSocket", server: server))
            case .failed(let words): state.end = .failure(broken(words))
            }
            return .end
        }
    }

    /// Sends what the machine has to say, as far as that is possible now. A server that takes nothing any more is
    /// noticed by reading.
    private func answer(_ state: inout State, _ ready: inout Readiness) {
        do throws(HTTPError) { _ = try flush(&state, &ready) } catch {}
    }

    private func end() throws(HTTPError) -> WebSocketReader.Input? {
        switch state.withLock({ $0.end }) {
        case .success: return nil
        case .failure(let error): throw error
        case nil: throw closed
        }
    }

    /// Drops what the server still sends until it leaves: what is unread when a connection is closed makes the system
    /// reset it, and then the server may never read why.
    private nonisolated(nonsending) func linger(until deadline: ContinuousClock.Instant) async {
        let isNeeded = state.withLock { state in
            defer { state.mustLinger = false }
            return state.mustLinger
        }
        guard isNeeded else { return }
        _ = descriptor.withDescriptor { descriptor, _ in shutdown(descriptor, Int32(SHUT_WR)) }
        while ContinuousClock.now < deadline {
            let moved = descriptor.withDescriptor { [socket] _, ready in
                unsafe withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 1) { space in
                    let moved = unsafe socket.receive(into: space)
                    if moved == .wouldBlock { ready.remove(.readable) }
                    return moved
                }
            }
            switch moved {
            case .bytes: continue
            case .wouldBlock:
                guard await descriptor.readyThroughCancellation(.readable, until: deadline) == .ready else { return }
            case .ended, .failed, nil: return
            }
        }
    }

    private func finish() {
        descriptor.close()
        socket.close()
    }
}

// MARK: Closing

extension WebSocket {
    /// Closes with the handshake: tells the server, drops the messages that still come, and waits for its answer for at
    /// most `limit`. The connection is gone afterwards, also in a cancelled task. The reason is cut at 123 bytes.
    public nonisolated(nonsending) func close(
        _ code: WebSocketCloseCode = .normal, reason: String = "", within limit: Duration = .seconds(5)
    ) async {
        let deadline = ContinuousClock.now + limit
        state.withLock { $0.machine.close(WebSocketClose(code, reason)) }
        while true {
            switch receiveOnce() {
            // A server that sends without end does not hold this up either.
            case .input: if ContinuousClock.now >= deadline { return give(up: limit) }
            case .end:
                await linger(until: deadline)
                return finish()
            case .wait(let directions):
                let wake = await descriptor.readyThroughCancellation(directions, until: deadline)
                guard wake == .ready else { return give(up: limit) }
            }
        }
    }

    private func give(up limit: Duration) {
        state.withLock { state in
            guard state.end == nil else { return }
            state.end = .failure(
                HTTPError(.idleTimedOut, "\(server) did not confirm the close within \(limit)", server: server))
        }
        finish()
    }
}
