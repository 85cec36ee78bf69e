import Capabilities
import HTTPCore
import LoopKit

/// Opens one WebSocket: connects, asks, and reads the answer.
struct WebSocketOpening {
    let request: WebSocketRequest
    let setup: ConnectionSetup
    let grant: Grant
    let loop: EventLoop
    private let deadline: ContinuousClock.Instant
    private let key: String

    init(_ request: WebSocketRequest, _ setup: ConnectionSetup, _ grant: Grant, _ loop: EventLoop) {
        self.request = request
        self.setup = setup
        self.grant = grant
        self.loop = loop
        deadline = .now + request.deadline
        var generator = SystemRandomNumberGenerator()
        key = WebSocketHandshake.makeKey(using: &generator)
    }

    private var server: String { request.url.server }

    func open() async throws -> WebSocket {
        try request.url.checkPermission(within: grant)
        let head = try head()
        let socket = try await connect()
        guard let number = socket.descriptor else { throw broken("it has no socket") }
        let descriptor: LoopDescriptor
        do throws(LoopError) {
            descriptor = try LoopDescriptor(borrowing: number, loop: loop)
        } catch {
            socket.close()
            throw HTTPError(.invalid, error.message, mayHaveBeenSent: false, server: server, cause: error)
        }
        do {
            try await send(head, socket, descriptor)
            let answer = try await answer(socket, descriptor)
            let subprotocol = try WebSocketHandshake.subprotocol(
                in: answer.headers, key: key, offered: request.subprotocols)
            return WebSocket(
                socket, descriptor, server: server, limits: request.limits, subprotocol: subprotocol,
                headers: answer.headers, early: answer.rest)
        } catch {
            descriptor.close()
            socket.close()
            throw error
        }
    }

    /// The lines of the request.
    private func head() throws(HTTPError) -> [UInt8] {
        var headers: HTTPHeaders = [:]
        let port = request.url.port == request.url.scheme.defaultPort ? "" : ":\(request.url.port)"
        headers.append("Host", request.headers["Host"] ?? request.url.bracketedHost + port)
        for field in WebSocketHandshake.request(
            key: key, subprotocols: request.subprotocols, origin: request.origin)
        { headers.append(field.name, field.value) }
        for field in request.headers where headers[field.name] == nil { headers.append(field.name, field.value) }
        if let (name, _) = headers.firstInvalid {
            throw HTTPError(
                .invalid, "the header \(name) cannot be sent: it holds a character that is not allowed there",
                mayHaveBeenSent: false)
        }
        let target = request.url.path + (request.url.query.map { "?\($0)" } ?? "")
        let lines = ["GET \(target) HTTP/1.1"] + headers.map { "\($0.name): \($0.value)" }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    private func connect() async throws -> CurlSocket {
        try Task.checkCancellation()
        let socket = try CurlSocket(request, setup, within: grant)
        let result: Result<Void, HTTPError> = try await withTaskCancellationHandler {
            try await onOwnThread { Result { () throws(HTTPError) in try socket.connect() } }
        } onCancel: {
            socket.cancel()
        }
        try Task.checkCancellation()
        try result.get()
        return socket
    }

    private func send(_ head: [UInt8], _ socket: CurlSocket, _ descriptor: LoopDescriptor) async throws {
        var sent = 0
        while sent < head.count {
            let moved = descriptor.withDescriptor { _, ready in
                let moved = socket.send(head, from: sent)
                if moved == .wouldBlock { ready.remove(.writable) }
                return moved
            }
            switch moved {
            case .bytes(let count): sent += count
            case .wouldBlock: try check(await descriptor.writable(until: deadline))
            case .ended, nil: throw broken("it ended")
            case .failed(let words): throw broken(words)
            }
        }
    }

    private func answer(_ socket: CurlSocket, _ descriptor: LoopDescriptor) async throws -> UpgradeAnswer.Head {
        var answer = UpgradeAnswer(limit: request.head, server: server)
        while true {
            let part = try await receive(socket, descriptor)
            guard !part.isEmpty else {
                throw HTTPError(.cut, "\(server) closed the connection without an answer", server: server)
            }
            guard let head = try answer.append(part[...]) else { continue }
            guard head.status.code == 101 else { throw await refusal(head, socket, descriptor) }
            return head
        }
    }

    /// What the server says about its refusal, as far as it comes soon.
    private func refusal(_ head: UpgradeAnswer.Head, _ socket: CurlSocket, _ descriptor: LoopDescriptor) async
        -> HTTPError
    {
        var body = head.rest
        let length = min(head.headers["Content-Length"].flatMap { Int($0) } ?? 4_096, 4_096)
        do {
            while body.count < length {
                let part = try await receive(socket, descriptor)
                guard !part.isEmpty else { break }
                body += part
            }
        } catch {
            // The status is what matters; its words may be missing.
        }
        if head.headers.has("Transfer-Encoding", "chunked") { body = Self.dechunked(body) }
        return HTTPError(status: head.status, headers: head.headers, body: body, server: server)
    }

    /// The first chunks, as far as they are there.
    private static func dechunked(_ bytes: [UInt8]) -> [UInt8] {
        var (body, rest) = ([UInt8](), bytes[...])
        while let end = rest.firstIndex(of: 13),
            let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16)
        {
            guard size > 0, rest.count > end - rest.startIndex + 2 else { break }
            rest = rest[(end + 2)...]
            body += rest.prefix(size)
            rest = rest.dropFirst(size).dropFirst(2)
        }
        return body
    }

    /// The next bytes; none at the end.
    private func receive(_ socket: CurlSocket, _ descriptor: LoopDescriptor) async throws -> [UInt8] {
        while true {
            var moved: CurlSocket.Moved?
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, filled in
                let space = UnsafeMutableRawBufferPointer(buffer)
                moved = descriptor.withDescriptor { _, ready in
                    let moved = unsafe socket.receive(into: space)
                    if moved == .wouldBlock { ready.remove(.readable) }
                    return moved
                }
                if case .bytes(let count) = moved { filled = count }
            }
            switch moved {
            case .bytes, .ended: return bytes
            case .wouldBlock: try check(await descriptor.readable(until: deadline))
            case .failed(let words): throw broken(words)
            case nil: throw broken("it was closed")
            }
        }
    }

    private func check(_ wake: LoopDescriptor.Wake) throws(HTTPError) {
        switch wake {
        case .ready: break
        case .closed: throw broken("it was closed")
        case .timedOut:
            throw HTTPError(
                .firstByteTimedOut, "\(server) took the request and did not answer within \(request.deadline)",
                server: server)
        }
    }

    private func broken(_ words: String) -> HTTPError {
        HTTPError(.reset, "the connection to \(server) broke: \(words)", server: server)
    }
}
