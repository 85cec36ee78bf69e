import Capabilities
import CoreTesting
import Cryptography
import Glibc
import HTTPClient
import HTTPCore
import HTTPTesting
import Synchronization
import Testing

@Suite("Opening of WebSockets: TLS, timeouts, proxies", .timeLimit(.minutes(5)))
struct WebSocketOpeningTests {
    @Test("A server with a private authority is trusted, and large messages pass through TLS in both directions")
    func tls() async throws {
        let certificates = try TestCertificates.shared()
        let trust = TrustDomain(authorities: .bytes(Array(certificates.authority.certificate.pem.utf8)))
        let client = WebSocketClient(trust: trust, withoutCaller: .person)
        try await ScriptedServer.run(tls: try ScriptedTLS(certificates.good)) { connection in
            try connection.openWebSocket()
            try connection.echoMessages()
        } during: { server in
            let sink = RecordingSpanSink()
            let socket = try await Tracer(sinks: [sink], now: Timestamp.now).span("work", of: "test") { _ in
                try await client.connect(WebSocketRequest("wss://localhost:\(server.port)/"))
            }
            #expect(sink.spans.map(\.name) == ["GET", "work"] && sink.spans.first?.kind == .client)
            for size in [0, 1, 16_384, 100_000, 8_000_000] {
                let message = WebSocketMessage.binary((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 13) })
                try await socket.send(message)
                #expect(try await socket.receive() == message)
            }
            await socket.close()
            #expect(socket.closeReason?.code == .normal)
        }
    }

    @Test("An untrusted server is refused before the request, and the error has its certificate")
    func untrusted() async throws {
        let certificates = try TestCertificates.shared()
        let authority = TrustDomain(authorities: .bytes(Array(certificates.authority.certificate.pem.utf8)))
        let cases: [(Identity, TrustDomain, CertificateDefect)] = [
            (certificates.selfSigned, authority, .selfSigned), (certificates.expired, authority, .expired),
            (certificates.wrongName, authority, .wrongName), (certificates.good, .system, .unknownIssuer),
        ]
        for (identity, trust, defect) in cases {
            try await ScriptedServer.run(tls: try ScriptedTLS(identity)) { connection in
                try connection.openWebSocket()
            } during: { server in
                let client = WebSocketClient(trust: trust, withoutCaller: .person)
                let error = await #expect(throws: HTTPError.self) {
                    try await client.connect(WebSocketRequest("wss://localhost:\(server.port)/"))
                }
                #expect(error?.kind == .certificate)
                #expect(error?.certificate?.defects.contains(defect) == true)
                let record = try await server.until { $0.connections.count == 1 && $0.openNow == 0 }
                #expect(record.bytesReceived == 0)
            }
        }
    }

    @Test("A pinned certificate is accepted, and each connection is judged")
    func pinned() async throws {
        let certificates = try TestCertificates.shared()
        let box = SharedFlag()
        let pin = certificates.selfSigned.certificate.fingerprint
        let trust = TrustDomain(judge: { shown in
            box.isSet && shown.fingerprint == pin ? .accepted : .refused("the certificate is not the pinned one")
        })
        let client = WebSocketClient(trust: trust, withoutCaller: .person)
        box.isSet = true
        try await ScriptedServer.run(tls: try ScriptedTLS(certificates.selfSigned)) { connection in
            try connection.openWebSocket()
            try connection.echoMessages()
        } during: { server in
            let request = try WebSocketRequest("wss://127.0.0.1:\(server.port)/")
            let first = try await client.connect(request)
            box.isSet = false
            let error = await #expect(throws: HTTPError.self) { try await client.connect(request) }
            #expect(error?.message == "the certificate is not the pinned one")
            await first.close()
        }
    }

    @Test("An opening to a server that does not respond ends at the deadline, in each phase", arguments: ["ws", "wss"])
    func deadline(scheme: String) async throws {
        try await ScriptedServer.run {
            try $0.stall()
        } during: { server in
            var request = try WebSocketRequest("\(scheme)://127.0.0.1:\(server.port)/")
            request.deadline = .milliseconds(80)
            let error = await #expect(throws: HTTPError.self) {
                try await WebSocketClient(withoutCaller: .person).connect(request)
            }
            #expect(error?.kind == (scheme == "ws" ? .firstByteTimedOut : .connectTimedOut))
            // A server behind ws may have received the request; without a finished TLS handshake it has not.
            #expect(error?.mayHaveBeenSent == (scheme == "ws"))
            try await server.until { $0.connections.count == 1 && $0.openNow == 0 }
        }
    }

    @Test("Cancelling ends the opening at once, in each phase", arguments: ["ws", "wss"])
    func cancelled(scheme: String) async throws {
        try await ScriptedServer.run {
            try $0.stall()
        } during: { server in
            var request = try WebSocketRequest("\(scheme)://127.0.0.1:\(server.port)/")
            // Longer than this test may take, so that only the cancellation can end it.
            request.deadline = .seconds(300)
            let opening = Task { [request] in try await WebSocketClient(withoutCaller: .person).connect(request) }
            try await server.until { $0.connections.count == 1 }
            opening.cancel()
            await #expect(throws: CancellationError.self) { try await opening.value }
            try await server.until { $0.openNow == 0 }
        }
    }

    @Test("A port without a listener and an unknown host name are reported as different errors")
    func unreachable() async throws {
        let port = try await ScriptedServer.run { _ in
        } during: {
            $0.port
        }
        let client = WebSocketClient(withoutCaller: .person)
        var error = await #expect(throws: HTTPError.self) {
            try await client.connect(WebSocketRequest("ws://127.0.0.1:\(port)/"))
        }
        #expect(error?.kind == .refused)
        #expect(error?.mayHaveBeenSent == false)
        error = await #expect(throws: HTTPError.self) {
            try await client.connect(WebSocketRequest("ws://no-such-host.invalid/"))
        }
        #expect(error?.kind == .nameNotFound)
    }

    @Test("A proxy is asked for a tunnel, also without TLS, and its refusal is reported")
    func proxy() async throws {
        try await ScriptedServer.run { connection in
            // Proxy and server in one: the bytes after the proxy's response belong to the tunnel.
            let request = try connection.receiveHead()
            guard request.target == "ws.example:80" else { return try connection.answer(403) }
            try connection.send("HTTP/1.1 200 Connection established\r\n\r\n")
            try connection.openWebSocket()
            try connection.echoMessages()
        } during: { server in
            let proxy = "http://127.0.0.1:\(server.port)"
            let client = WebSocketClient(
                proxies: ProxySettings(http: proxy, https: proxy), withoutCaller: .person)
            let socket = try await client.connect(WebSocketRequest("ws://ws.example/path"))
            try await socket.send("through")
            #expect(try await socket.receive()?.text == "through")
            await socket.close()
            let requests = server.record.requests
            #expect(requests.map(\.method) == ["CONNECT", "GET"])
            #expect(requests.last?.target == "/path")
            #expect(requests.last?.headers["Host"] == "ws.example")
            let error = await #expect(throws: HTTPError.self) {
                try await client.connect(WebSocketRequest("ws://other.example/"))
            }
            #expect(error?.kind == .proxy)
            #expect(error?.message.contains("403") == true)
        }
    }

    @Test("A Unix socket of this machine is reached by its path")
    func unixSocket() async throws {
        try await TemporaryDirectory.run { folder in
            let path = folder + "/socket"
            try await ScriptedServer.run(at: .unix(path: path)) { connection in
                try connection.openWebSocket()
                try connection.echoMessages()
            } during: { _ in
                var request = try WebSocketRequest("ws://localhost/")
                request.unixSocket = path
                let socket = try await WebSocketClient(withoutCaller: .person).connect(request)
                try await socket.send("local")
                #expect(try await socket.receive()?.text == "local")
                await socket.close()
            }
        }
    }

    @Test("A close does not wait for the server longer than its limit")
    func unansweredClose() async throws {
        try await ScriptedServer.run { connection in
            try connection.openWebSocket()
            try connection.stall()
        } during: { server in
            let socket = try await WebSocketClient(withoutCaller: .person).connect(
                WebSocketRequest("ws://127.0.0.1:\(server.port)/"))
            let start = ContinuousClock.now
            // The limit also applies in a cancelled task.
            let closing = Task { await socket.close(within: .milliseconds(60)) }
            closing.cancel()
            await closing.value
            #expect(ContinuousClock.now - start >= .milliseconds(60))
            #expect(socket.closeReason == nil)
            try await server.until { $0.openNow == 0 }
        }
    }

    @Test("A server that sends without end delays neither the close nor a cancelled reader")
    func flood() async throws {
        try await ScriptedServer.run { connection in
            try connection.openWebSocket()
            var ping: [UInt8] = []
            WebSocketFrame(.ping, [1, 2, 3]).append(to: &ping, mask: nil)
            try connection.sendEndlessly([[UInt8]](repeating: ping, count: 4_096).flatMap(\.self))
        } during: { server in
            let socket = try await WebSocketClient(withoutCaller: .person).connect(
                WebSocketRequest("ws://127.0.0.1:\(server.port)/"))
            let reading = Task { try await socket.receive() }
            try await server.until { $0.bytesSent > 1 << 20 }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            await socket.close(within: .milliseconds(50))
            try await server.until { $0.openNow == 0 }
        }
    }

    @Test("Releasing a socket closes its connection and its descriptor")
    func letGo() async throws {
        try await ScriptedServer.run { connection in
            try connection.openWebSocket()
            try connection.receiveEnd()
        } during: { server in
            let client = WebSocketClient(withoutCaller: .person)
            for _ in 0..<20 {
                let socket = try await client.connect(WebSocketRequest("ws://127.0.0.1:\(server.port)/"))
                _ = consume socket
            }
            try await server.until { $0.connections.count == 20 && $0.openNow == 0 }
        }
    }
}

/// A flag that the test sets and a handshake reads.
private final class SharedFlag: Sendable {
    private let state = Mutex(false)

    var isSet: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
