public import HTTPCore
import LoopKit
import Synchronization

/// The server's side of a WebSocket, for as long as its handler runs.
///
/// ```swift
/// .upgrade { socket in
///     while let message = try await socket.next() { try await socket.send(message) }
/// }
/// ```
///
/// Data is read only while a message is requested, so a slow handler slows the client. Any task may send; only one
/// should read at a time, because each message is returned once. Pings are answered while a read waits.
public final class ServerWebSocket: Sendable {
    /// The selected subprotocol.
    public let subprotocol: String?
    private let connection: Connection
    private let number: Int
    // Taken inside the connection's lock, never the other way around.
    private let machine: Mutex<WebSocketMachine>

    init(_ connection: Connection, number: Int, limits: WebSocketLimits, subprotocol: String?) {
        self.connection = connection
        self.number = number
        self.subprotocol = subprotocol
        var machine = WebSocketMachine(role: .server, limits: limits)
        let early = connection.state.withLock { state in
            defer { state.unread = [] }
            return state.unread
        }
        unsafe early.withUnsafeBytes { unsafe machine.append($0) }
        self.machine = Mutex(machine)
    }

    /// Sends a message, and waits while the client does not read.
    ///
    /// Throws `ClientGone` after the socket closed or if the client does not read for too long.
    public func send(_ message: WebSocketMessage) async throws {
        try await connection.write(of: number) {
            try machine.withLock { machine in
                guard machine.send(message) else { throw ClientGone.finished }
                return machine.takeOutput()
            }
        }
    }

    /// Sends a text.
    public func send(_ text: String) async throws {
        try await send(.text(text))
    }

    /// The next message; nil after the client closed. A client that is silent for long gets a ping, and is dropped if
    /// it does not respond.
    ///
    /// Throws `WebSocketViolation` when the client violated the protocol; the client has been notified.
    public func next() async throws -> WebSocketMessage? {
        var isAsked = false
        while true {
            do {
                switch try machine.withLock({ try $0.next() }) {
                case .message(let message): return message
                case .ping: try await flush()
                case .pong: isAsked = false
                case .close:
                    try await flush()
                    return nil
                case nil:
                    if machine.withLock({ $0.isOver }) { return nil }
                    isAsked = try await receive(isAsked: isAsked)
                }
            } catch let violation as WebSocketViolation {
                try await flush()
                throw violation
            }
        }
    }

    /// Closes with the handshake; remaining messages can be read until `next` returns nil.
    public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") async throws {
        machine.withLock { $0.close(WebSocketClose(code, reason)) }
        try await flush()
    }

    private func flush() async throws {
        try await connection.write(of: number) { machine.withLock { $0.takeOutput() } }
    }

    /// Passes received bytes to the machine.
    private func fill() -> Transport.Moved {
        unsafe connection.receive(of: number) { receive in
            try machine.withLock { machine in try unsafe machine.fill(capacity: 16 << 10, receive) }
        }
    }

    /// Waits for bytes; returns whether the client owes a sign of life.
    private func receive(isAsked: Bool) async throws -> Bool {
        while true {
            let moved = fill()
            switch moved {
            case .bytes: return false
            case .ended, .failed: throw ClientGone.closed
            case .wait(let direction):
                machine.withLock { $0.releaseMemory() }
                let deadline = ContinuousClock.now + connection.core.limits.heartbeat * 2
                switch try await connection.heed(direction, until: deadline) {
                case .ready: continue
                case .closed: throw ClientGone.closed
                case .timedOut:
                    if isAsked { throw ClientGone.silent }
                    if machine.withLock({ $0.ping() }) { try await flush() }
                    return true
                }
            }
        }
    }

    /// Closes a socket that the handler left open: sends the reason, and waits briefly for the client's close.
    func finish(_ error: (any Error)?) async {
        do {
            let code = error == nil ? WebSocketCloseCode.normal : .internalError
            try await close(code)
            let deadline = ContinuousClock.now + .seconds(2)
            while !machine.withLock({ $0.isOver }) {
                if try machine.withLock({ try $0.next() }) != nil { continue }
                let moved = fill()
                guard case .wait(let direction) = moved else {
                    if case .bytes = moved { continue }
                    return
                }
                guard await connection.descriptor.readyThroughCancellation(direction, until: deadline) == .ready
                else { return }
            }
        } catch {
            // The client is gone or violates the protocol, so it will not confirm the close.
        }
    }
}

extension Connection {
    /// Opens a WebSocket and runs its handler; the connection ends with it.
    @inline(never)
    nonisolated(nonsending) func writeWebSocket(
        _ answer: HTTPAnswer, _ request: ServerRequest, _ protocols: [String], _ limits: WebSocketLimits,
        _ body: @Sendable (ServerWebSocket) async throws -> Void
    ) async throws {
        let number = request.number
        let subprotocol = try beginWebSocket(answer, request.head, protocols)
        let socket = ServerWebSocket(self, number: number, limits: limits, subprotocol: subprotocol)
        try await writePiece([], of: number)
        do {
            try await body(socket)
        } catch {
            leave()
            await socket.finish(error)
            throw error
        }
        leave()
        await socket.finish(nil)
    }

    /// Prepares the response that opens the socket; returns the subprotocol.
    @inline(never)
    private func beginWebSocket(
        _ answer: HTTPAnswer, _ request: HTTPRequestHead, _ protocols: [String]
    ) throws -> String? {
        guard request.version == .http11, request.body == .none || request.body == .length(0) else {
            throw RequestProblem.badRequest("open a WebSocket with an HTTP/1.1 request without a body")
        }
        var headers: HTTPHeaders
        do throws(WebSocketHandshake.Refusal) {
            headers = try WebSocketHandshake.answer(to: request.method, request.headers, supported: protocols)
        } catch {
            throw RequestProblem(error.status, code: "server.websocket", error.message, headers: error.headers)
        }
        for (name, value) in answer.headers { headers.append(name, value) }
        let head = AnswerHead(
            status: answer.status, headers: headers, framing: .bare, closes: false, isOldClient: false)
        var bytes: [UInt8] = []
        try head.write(into: &bytes, core.dateLine)
        state.withLock { state in
            state.exchange.status = head.status
            state.exchange.head = bytes
            state.exchange.isOpen = true
        }
        return headers["Sec-WebSocket-Protocol"]
    }
}
