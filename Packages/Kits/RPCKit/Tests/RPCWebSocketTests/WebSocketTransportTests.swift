import Capabilities
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import RPCKit
import RPCWebSocket
import Synchronization
import Testing

/// Meets the Python package `websockets`, and frames that no good server sends.
@Suite("JSON-RPC over a WebSocket", .timeLimit(.minutes(1)))
struct WebSocketTransportTests {
    /// Answers with the parameters, and keeps what it is told.
    private final class Echo: RPCHandler {
        private let heard = Mutex([RPCProblem]())
        let news = Signal()

        var problems: [RPCProblem] { heard.withLock { $0 } }
        func answer(_ request: RPCRequest) async throws -> JSON { request.params ?? nil }
        func tell(_ problem: RPCProblem) {
            heard.withLock { $0.append(problem) }
            news.raise()
        }
    }

    /// The peers of `websocket.py`: one that speaks WebSocket well, and one that sends any bytes.
    private struct Server: Sendable {
        let port: Int
        let raw: Int

        func socket(_ path: String, isRaw: Bool = false, message limit: Int = 1 << 20) async throws -> WebSocket {
            var request = try WebSocketRequest("ws://127.0.0.1:\(isRaw ? raw : port)\(path)")
            request.limits.message = limit
            return try await WebSocketClient(withoutCaller: .person).connect(request)
        }

        /// Runs a connection on which the server sends these bytes after the handshake.
        func frames<Value: Sendable>(
            _ hex: String, _ more: String = "", _ handler: Echo = Echo(),
            _ body: @escaping @Sendable (RPCConnection) async throws -> Value
        ) async throws -> Value {
            try await with(try await socket("/frames?id=1&hex=\(hex)\(more)", isRaw: true), handler, body)
        }

        func with<Value: Sendable>(
            _ socket: WebSocket, _ handler: Echo = Echo(), outgoing: Int = 1 << 20,
            _ body: @escaping @Sendable (RPCConnection) async throws -> Value
        ) async throws -> Value {
            let transport = WebSocketTransport(socket, outgoing: outgoing, patience: .milliseconds(200))
            let connection = RPCConnection(to: "the server", over: transport, handler: handler)
            return try await connection.whileRunning { try await body(connection) }
        }

        /// What the socket of `frames` was sent: the kinds of the frames, and the code with which it was closed.
        func log() async throws -> JSON {
            let socket = try await socket("/log?id=1")
            let message = try #require(try await socket.receive())
            await socket.close()
            return try JSON(parsing: message.bytes)
        }
    }

    private static func run(_ body: @Sendable (Server) async throws -> Void) async throws {
        try await PythonPeer.run(file: PythonPeer.path("websocket.py")) { python in
            let raw = try #require(try await python.nextLine().flatMap { Int($0) })
            try await body(Server(port: python.port, raw: raw))
        }
    }

    /// Why a call has no result.
    private static func failure(_ connection: RPCConnection) async throws -> RPCFailure {
        try await #require(throws: RPCFailure.self) { _ = try await connection.call("m", ["n": 1]) }
    }

    private static func text(_ text: String) -> String {
        "81"
            + ([UInt8(text.utf8.count)] + Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            .joined()
    }

    // The server sends each request back, so that this side answers its own: both directions in one.
    @Test("Calls go in both directions, also in pieces", arguments: ["/echo", "/echo?fragments=3&ping=1"])
    func calls(path: String) async throws {
        try await Self.run { server in
            try await server.with(try await server.socket(path)) { connection in
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<20 {
                        group.addTask { try await connection.call("m", ["n": .int(number)]) == ["n": .int(number)] }
                    }
                    let sums = try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                    #expect(sums == 20)
                }
            }
        }
    }

    @Test("A message that is too large, binary, or not well formed ends the connection with its reason")
    func wrong() async throws {
        try await Self.run { server in
            let large = try await server.with(try await server.socket("/echo", message: 1024)) { connection in
                try await #require(throws: RPCFailure.self) {
                    _ = try await connection.call("m", ["text": .string(String(repeating: "x", count: 2000))])
                }
            }
            #expect(large.kind == .limit && large.message.contains("1024"), "\(large.message)")
            let binary = try await server.frames("8203616263") { try await Self.failure($0) }
            #expect(binary.kind == .malformed && binary.message.contains("binary"))
            #expect(try await server.log()["code"] == 1003)
            // Bits that are reserved, and a message of which half comes.
            let reserved = try await server.frames("f103616263") { try await Self.failure($0) }
            #expect(reserved.kind == .malformed)
            let half = try await server.frames("810a616263", "&then=close") { try await Self.failure($0) }
            #expect(half.kind == .closed)
        }
    }

    @Test("What is no message is told, and the next one counts")
    func garbage() async throws {
        try await Self.run { server in
            let echo = Echo()
            let frames = ["garbage", "[1,", #"{"id":7,"result":1}"#, #"{"id":1,"result":"fine"}"#].map(Self.text)
            let problems = try await server.frames(frames.joined(), "", echo) { _ in
                // The last one answers a call that was not made, unless it was made in time.
                while echo.problems.count < 3 { try await echo.news.wait(beyond: echo.problems.count) }
                return echo.problems
            }
            guard case .malformed = problems[0], case .malformed = problems[1] else {
                Issue.record("\(problems)")
                return
            }
            #expect(problems[2] == .unknownID(RPCID(7)))
        }
    }

    @Test(
        "A server that closes in a call says why by its code",
        arguments: [
            (1011, RPCFailure.Kind.closed), (1008, .denied), (1009, .limit), (1002, .malformed), (1000, .closed),
        ])
    func closes(code: Int, kind: RPCFailure.Kind) async throws {
        try await Self.run { server in
            let path = "/close?code=\(code)&reason=enough"
            let failure = try await server.with(try await server.socket(path)) { try await Self.failure($0) }
            #expect(failure.kind == kind)
            #expect(failure.message.contains("enough") == (code != 1000), "\(failure.message)")
        }
    }

    @Test("For a server that does not read only so much waits, and the end does not wait for it")
    func deaf() async throws {
        try await Self.run { server in
            try await server.with(try await server.socket("/deaf"), outgoing: 1 << 16) { connection in
                let text: JSON = .string(String(repeating: "x", count: 1 << 14))
                let failure = try #require(throws: RPCFailure.self) {
                    while true { try connection.notify("m", ["text": text]) }
                }
                #expect(
                    failure.kind == .limit && failure.message.contains("the limit is \(ByteCount(1 << 16).words)"),
                    "\(failure.message)")
            }
        }
    }

    @Test("What was sent just before the end arrives")
    func last() async throws {
        try await Self.run { server in
            try await server.frames("") { connection in try connection.notify("bye") }
            let log = try await server.log()
            #expect(log["opcodes"] == [1, 8] && log["code"] == 1000, "\(log)")
        }
    }
}
