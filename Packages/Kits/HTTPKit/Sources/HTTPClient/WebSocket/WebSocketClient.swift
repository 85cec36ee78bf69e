public import Capabilities
import Glibc
public import HTTPCore
import LoopKit

/// Opens WebSockets that share their trust, proxies and thread.
///
///     let client = WebSocketClient(withoutCaller: .person)
///     let socket = try await client.connect(WebSocketRequest("ws://localhost:8000/events"))
///     try await socket.send("hello")
///     for try await message in socket.messages { print(message.text ?? "") }
public final class WebSocketClient: Sendable {
    private let setup: ConnectionSetup
    private let withoutCaller: Grant
    private let loop = EventLoop()

    /// - Parameter withoutCaller: what a task without an action may reach; nothing by default.
    public init(trust: TrustDomain = .system, proxies: ProxySettings = .none, withoutCaller: Grant = .nobody) {
        setup = ConnectionSetup(trust: trust, proxies: proxies)
        self.withoutCaller = withoutCaller
    }

    /// Opens a WebSocket. Throws `HTTPError`; for a response other than 101 it has the status and the server's message.
    /// Cancelling the task ends it at once.
    public func connect(_ request: WebSocketRequest) async throws -> WebSocket {
        let grant = Caller.current?.grant ?? withoutCaller
        defer { setup.trust.tell?() }
        return try await Tracer.current.span("GET", .client, of: "http") { span in
            span.set(request.url, .get)
            do {
                return try await WebSocketOpener(request, setup, grant, loop).open()
            } catch let error as HTTPError {
                guard let certificate = error.certificate, let settle = setup.trust.settle else { throw error }
                try await settle(certificate)
                return try await WebSocketOpener(request, setup, grant, loop).open()
            }
        }
    }
}

/// A request to open a WebSocket.
public struct WebSocketRequest: Sendable {
    /// The address, with the scheme `http` or `https` instead of `ws` or `wss`.
    public var url: HTTPURL
    /// Additional headers, such as `Authorization`.
    public var headers: HTTPHeaders
    /// In the order of preference.
    public var subprotocols: [String]
    /// The origin of the requesting page. Programs do not need one, but some servers check it.
    public var origin: String?
    /// What the server may make this side keep in memory.
    public var limits = WebSocketLimits()
    /// Time until the server's 101 response: name lookup, TCP, proxy, TLS and response.
    public var deadline: Duration = .seconds(10)
    /// Maximum bytes of the response head.
    public var head = 64 << 10
    /// The path of a Unix socket, used instead of the address's host.
    public var unixSocket: String?

    /// A request with the default limits and deadline.
    public init(_ url: HTTPURL, headers: HTTPHeaders = [:], subprotocols: [String] = [], origin: String? = nil) {
        self.url = url
        self.headers = headers
        self.subprotocols = subprotocols
        self.origin = origin
    }

    /// Parses an address that begins with `ws://`, `wss://`, `http://` or `https://`.
    public init(
        _ text: String, headers: HTTPHeaders = [:], subprotocols: [String] = [], origin: String? = nil
    ) throws(HTTPError) {
        let scheme = text.prefix { $0 != ":" }
        let other: String? =
            switch scheme.lowercased() {
            case "ws": "http"
            case "wss": "https"
            default: nil
            }
        let url = try HTTPURL(other.map { $0 + text[scheme.endIndex...] } ?? text)
        self.init(url, headers: headers, subprotocols: subprotocols, origin: origin)
    }
}

/// Opens one WebSocket: connects, sends the request, and reads the response.
struct WebSocketOpener {
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
                .invalid, "the header \(name) cannot be sent: it contains an invalid character",
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
                throw HTTPError(.cut, "\(server) closed the connection without a response", server: server)
            }
            guard let head = try answer.append(part[...]) else { continue }
            guard head.status.code == 101 else { throw await refusal(head, socket, descriptor) }
            return head
        }
    }

    /// The server's message about its refusal, as far as it arrives in time.
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
            // The status is enough; its message may be missing.
        }
        if head.headers.has("Transfer-Encoding", "chunked") { body = Self.dechunked(body) }
        return HTTPError(status: head.status, headers: head.headers, body: body, server: server)
    }

    /// The first chunks, as far as they have arrived.
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

    /// The next bytes; empty at the end.
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
                .firstByteTimedOut, "\(server) received the request but did not respond within \(request.deadline)",
                server: server)
        }
    }

    private func broken(_ words: String) -> HTTPError {
        HTTPError(.reset, "the connection to \(server) broke: \(words)", server: server)
    }
}

/// Parses the response to a WebSocket request as its bytes arrive.
struct UpgradeAnswer {
    /// The complete head.
    struct Head {
        let status: HTTPStatus
        let headers: HTTPHeaders
        /// The bytes after the head: the first frames, or the body of a refusal.
        let rest: [UInt8]
    }

    private let limit: Int
    private let server: String
    private var bytes: [UInt8] = []
    private var reader: HeadReader
    private var start = 0
    private var isBegun = false

    init(limit: Int, server: String) {
        self.limit = limit
        self.server = server
        // The limit for all lines, over several heads, is checked here.
        reader = HeadReader(limit: .max)
    }

    /// Adds bytes and returns the head once it is complete. Interim responses, such as 103, are skipped.
    mutating func append(_ new: ArraySlice<UInt8>) throws(HTTPError) -> Head? {
        bytes += new
        while let end = newline() {
            guard end < limit else { throw tooLarge }
            let line = bytes[start...end]
            start = end + 1
            try check(line)
            let step = unsafe line.withUnsafeBytes { unsafe reader.read($0) }
            if step == .complete || (step == .interim && reader.status.code == 101) {
                return Head(status: reader.status, headers: reader.headers, rest: Array(bytes[start...]))
            }
            if step == .interim { isBegun = false }
        }
        guard bytes.count < limit else { throw tooLarge }
        return nil
    }

    private func newline() -> Int? {
        unsafe bytes.withUnsafeBytes { all in
            guard let base = all.baseAddress, let found = unsafe memchr(base + start, 10, all.count - start) else {
                return nil
            }
            return unsafe base.distance(to: UnsafeRawPointer(found))
        }
    }

    /// The status line must be the first line and no other.
    private mutating func check(_ line: ArraySlice<UInt8>) throws(HTTPError) {
        let isStatus = line.starts(with: "HTTP/".utf8)
        guard isStatus != isBegun, !isStatus || line.starts(with: "HTTP/1.".utf8), isBegun || line.count >= 12 else {
            throw HTTPError(
                .badAnswer, "\(server) did not send a valid HTTP response; check host and port",
                server: server)
        }
        isBegun = true
    }

    private var tooLarge: HTTPError {
        HTTPError(
            .headTooLarge, "\(server) sent more header lines than the limit of \(limit) bytes",
            server: server)
    }
}
