import Capabilities
public import HTTPClient
import HTTPCore
public import RPCKit
import Synchronization

/// Messages over a WebSocket: each is one text.
///
///     let socket = try await sockets.connect(WebSocketRequest("wss://tools.example/rpc"))
///     let connection = RPCConnection(to: "the tools", over: WebSocketTransport(socket))
///
/// How large a message of the server may be is decided when the socket is opened (`WebSocketRequest.limits`). A larger one
/// ends the connection, because WebSocket knows no way to skip it. While a message is handled the next one is not read, so
/// that the server waits.
public final class WebSocketTransport: RPCTransport {
    private struct Outgoing {
        /// What waits to be sent, oldest first.
        var queue: [String] = []
        /// The bytes of the queue.
        var count = 0
        var isClosed = false
    }

    private let socket: WebSocket
    private let limit: Int
    private let patience: Duration
    private let outgoing = Mutex(Outgoing())
    private let news = Signal()
    private let closing = Promise<Void>()

    /// Messages over an open socket, which ends with the transport.
    ///
    /// - Parameters:
    ///   - outgoing: how many bytes may wait for a server that does not read.
    ///   - patience: how long the server may take to read the rest and to confirm the end.
    public init(_ socket: WebSocket, outgoing limit: Int = 64 << 20, patience: Duration = .seconds(2)) {
        self.socket = socket
        self.limit = limit
        self.patience = patience
    }

    public func run(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await carry(receive)) } catch { result = .failure(error) }
        outgoing.withLock { $0.isClosed = true }
        var close = WebSocketClose(.normal)
        if case .failure(let failure as RPCFailure) = result, failure.kind == .malformed {
            close = WebSocketClose(.unsupportedData, failure.message)
        }
        await socket.close(close.code ?? .normal, reason: close.reason, within: patience)
        try result.get()
    }

    private func carry(_ receive: @escaping @Sendable (RPCEvent) -> Void) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { try await self.write() }
            group.addTask {
                try await self.read(receive)
                return true
            }
            group.addTask {
                try await self.closing.value()
                // What was sent just before the end is sent still, such as a last notification, if the other side reads.
                try await ContinuousClock().sleep(for: self.patience)
                return true
            }
            defer { group.cancelAll() }
            while let isEnd = try await group.next() { if isEnd { return } }
        }
    }

    public func close() {
        outgoing.withLock { $0.isClosed = true }
        closing.settle(())
        news.raise()
    }

    // MARK: Reading

    private func read(_ receive: (RPCEvent) -> Void) async throws {
        do {
            while let message = try await socket.receive() {
                guard message.kind == .text else {
                    throw RPCFailure(.malformed, "a message is a text, and a binary message came")
                }
                for part in RPCBody(message.bytes).parts {
                    switch part {
                    case .message(let message): receive(.message(message))
                    case .malformed(let malformed): receive(.malformed(malformed))
                    }
                }
            }
        } catch let error as HTTPError {
            throw RPCFailure(socket: error)
        }
        if let close = socket.closeReason, let failure = RPCFailure(close) { throw failure }
    }

    // MARK: Writing

    public func send(_ message: RPCMessage) throws(RPCFailure) {
        let text = String(decoding: message.bytes, as: UTF8.self)
        try outgoing.withLock { (outgoing) throws(RPCFailure) in
            guard !outgoing.isClosed else { throw RPCFailure(.closed, "the connection is closed") }
            // One message may be larger, since otherwise it could never be sent.
            guard outgoing.count + text.utf8.count <= limit || outgoing.queue.isEmpty else {
                throw RPCFailure(
                    .limit,
                    "the other side does not read, and \(ByteCount(outgoing.count).words) for it wait already; the limit "
                        + "is \(ByteCount(limit).words)")
            }
            outgoing.queue.append(text)
            outgoing.count += text.utf8.count
        }
        news.raise()
    }

    /// - Returns: whether everything was sent after this side has closed.
    private func write() async throws -> Bool {
        var seen = 0
        while true {
            let isClosed = outgoing.withLock { $0.isClosed }
            do { try await writeRest() } catch is HTTPError {
                // A server that no longer reads may still write, and reading finds out how it ends.
                outgoing.withLock { $0.isClosed = true }
                return false
            }
            if isClosed { return true }
            seen = try await news.wait(beyond: seen)
        }
    }

    private func writeRest() async throws {
        while let text = outgoing.withLock({ $0.queue.first }) {
            try await socket.send(text)
            outgoing.withLock { outgoing in
                outgoing.queue.removeFirst()
                outgoing.count -= text.utf8.count
            }
        }
    }
}

extension RPCFailure {
    /// Why a WebSocket broke.
    fileprivate init(socket error: HTTPError) {
        let kind: Kind =
            switch error.kind {
            case .tooLarge: .limit
            case .badAnswer: .malformed
            default: .closed
            }
        self.init(kind, error.message)
    }

    /// What it means that the server has closed a WebSocket; nil if that is the usual end.
    fileprivate init?(_ close: WebSocketClose) {
        let kind: Kind
        switch close.code {
        case nil, .normal?, .goingAway?: return nil
        case .protocolError?, .unsupportedData?, .invalidData?: kind = .malformed
        case .policyViolation?: kind = .denied
        case .tooLarge?: kind = .limit
        default: kind = .closed
        }
        self.init(
            kind, "the other side has closed the WebSocket (\(PlainText.escape(close.description, limit: 200)))")
    }
}
