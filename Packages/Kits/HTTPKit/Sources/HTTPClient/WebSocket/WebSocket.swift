import Glibc
public import HTTPCore
import LoopKit
import Synchronization

/// An open WebSocket on the client's side.
///
/// Data is read only while a message is requested, so a slow reader pauses the server. Pings are answered at the same
/// time. Any number of tasks may send; each message is sent whole.
public final class WebSocket: Sendable {
    /// The subprotocol that the server chose.
    public let subprotocol: String?
    /// The headers of the server's 101 response.
    public let headers: HTTPHeaders
    /// The host and port.
    public let server: String

    struct State: ~Copyable {
        var machine: WebSocketMachine
        /// The bytes being written; they must not change until all are written.
        var sending: [UInt8] = []
        var sent = 0
        /// Why nothing more can be read.
        var end: Result<WebSocketClose, HTTPError>?
        /// The server was told of its violation and may still be sending.
        var mustLinger = false
    }

    private let socket: CurlSocket
    private let descriptor: LoopDescriptor
    /// Taken inside the descriptor's lock, never the other way around.
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
        // In this order, because the descriptor belongs to the socket.
        descriptor.close()
        socket.close()
    }

    /// The server's close reason; nil while the socket is open, or if the server left without a close.
    public var closeReason: WebSocketClose? {
        guard case .success(let close) = state.withLock({ $0.end }) else { return nil }
        return close
    }
}

// MARK: Sending

extension WebSocket {
    /// Sends a message, and waits while the server does not read.
    ///
    /// If sending is cancelled half way, the next operation completes the message, so that the stream stays valid.
    public nonisolated(nonsending) func send(_ message: WebSocketMessage) async throws {
        try await write { $0.send(message) }
    }

    /// Sends a text.
    public nonisolated(nonsending) func send(_ text: String) async throws {
        try await send(.text(text))
    }

    /// Sends a ping with at most 125 bytes; its pong arrives as one of the inputs.
    public nonisolated(nonsending) func ping(_ payload: [UInt8] = []) async throws {
        try await write { $0.ping(payload) }
    }

    private nonisolated(nonsending) func write(_ queue: (inout WebSocketMachine) -> Bool) async throws {
        try await turn.take()
        defer { turn.pass() }
        // Sends the rest of a cancelled message first, so that at most one message waits here.
        try await flush()
        guard state.withLock({ queue(&$0.machine) }) else { throw closed }
        try await flush()
    }

    enum Flush {
        case done, blocked
        /// More is left, but others have waited long enough.
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

    /// Writes what can be written now, up to about 256 KiB: encryption takes time, while the loop's thread may wait for
    /// the lock of this registration.
    func flushOnce() throws(HTTPError) -> Flush {
        let done = try descriptor.withDescriptor { (_, ready) throws(HTTPError) in
            try state.withLock { (state) throws(HTTPError) in try flush(&state, &ready) }
        }
        guard let done else { throw closed }
        return done
    }

    /// Queues a message for sending.
    func queue(_ message: WebSocketMessage) -> Bool { state.withLock { $0.machine.send(message) } }

    /// The number of bytes that the system has not accepted yet.
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
    /// The next message; nil after the server closed, with the reason in `closeReason`.
    ///
    /// Throws `HTTPError` when the connection broke, ended without a close, or the server violated the protocol; and
    /// `CancellationError`, after which the next call continues where this one stopped.
    public nonisolated(nonsending) func receive() async throws -> WebSocketMessage? {
        while let input = try await receiveInput() {
            if case .message(let message) = input { return message }
        }
        return nil
    }

    /// The next message, ping or pong, each a sign of life; nil after the server closed.
    public nonisolated(nonsending) func receiveInput() async throws -> WebSocketReader.Input? {
        while true {
            // Also checked when the server sends so fast that there is no wait.
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

    /// The messages until the server closes. Every iterator continues where the last reader stopped.
    public var messages: Messages { Messages(socket: self) }

    /// The sequence of `messages`.
    public struct Messages: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let socket: WebSocket

        /// This sequence itself.
        public func makeAsyncIterator() -> Messages { self }

        /// The next message, or nil after the server closed.
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

    /// Sends the machine's pending output as far as possible now. If the server no longer reads, reading detects it.
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

    /// Discards what the server still sends until it leaves. Closing a connection with unread data makes the system
    /// reset it, and then the server may never read the reason.
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
    /// Closes with the handshake: notifies the server, discards incoming messages, and waits for its close for at most
    /// `limit`. Afterwards the connection is gone, even in a cancelled task. The reason is cut to 123 bytes.
    public nonisolated(nonsending) func close(
        _ code: WebSocketCloseCode = .normal, reason: String = "", within limit: Duration = .seconds(5)
    ) async {
        let deadline = ContinuousClock.now + limit
        state.withLock { $0.machine.close(WebSocketClose(code, reason)) }
        while true {
            switch receiveOnce() {
            // A server that sends without end does not delay this either.
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
