import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

@Suite("Timeouts")
struct TimeoutTests {
    private static let short = Duration.milliseconds(250)

    @Test("A server that accepts the connection but does not finish the handshake times out", .timeLimit(.minutes(5)))
    func connect() async throws {
        try await ScriptedServer.run { connection in
            try connection.stall()
        } during: { server in
            try await Lab.trustingClient { client in
                var request = try Lab.request(server.port, scheme: "https")
                request.limits.connect = Self.short
                let error = await Lab.failure { [request] in _ = try await client.send(request) }
                #expect(error?.kind == .connectTimedOut, "\(error?.message ?? "")")
                #expect(error?.mayHaveBeenSent == false)
                #expect(error?.message.contains("no connection to 127.0.0.1:\(server.port) within 250ms") == true)
                let record = try await server.until { $0.openNow == 0 && $0.connections.count == 1 }
                #expect(record.connections.first?.peerLeft == true && record.requests.isEmpty)
            }
        }
    }

    @Test(
        "A server that does not respond, or does not finish its head, times out", .timeLimit(.minutes(5)),
        arguments: ["", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"])
    func firstByte(_ sent: String) async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.send(sent)
            try connection.stall()
        } during: { server in
            try await Lab.client { client in
                var request = try Lab.request(server.port)
                request.limits.firstByte = Self.short
                request.limits.idle = sent.isEmpty ? .seconds(20) : Self.short
                for isWhole in [true, false] {
                    let error = await Lab.failure { [request] in
                        if isWhole { _ = try await client.send(request) } else { _ = try await client.open(request) }
                    }
                    #expect(
                        sent.isEmpty
                            ? error?.kind == .firstByteTimedOut
                            : [.firstByteTimedOut, .idleTimedOut].contains(error?.kind), "\(error?.message ?? "")")
                    #expect(error?.mayHaveBeenSent == true && error?.status == nil)
                }
                let record = try await server.until { $0.openNow == 0 && $0.connections.count == 2 }
                #expect(record.connections.allSatisfy(\.peerLeft) && record.requests.count == 2)
            }
        }
    }

    @Test("A server that stops in the middle of its body times out", .timeLimit(.minutes(5)))
    func idle() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            try connection.stall()
        } during: { server in
            try await Lab.client { client in
                var request = try Lab.request(server.port)
                request.limits.idle = Self.short
                let exchange = try await client.open(request)
                var body = exchange.body.makeAsyncIterator()
                let first = try await body.next()
                #expect(first == Array("half".utf8))
                let error = await Lab.failure { _ = try await body.next() }
                #expect(error?.kind == .idleTimedOut, "\(error?.message ?? "")")
                #expect(error?.status == .ok)
                #expect(error?.message.contains("sent nothing for 250ms") == true, "\(error?.message ?? "")")
                let whole = await Lab.failure { [request] in _ = try await client.send(request) }
                #expect(whole?.kind == .idleTimedOut)
                try await server.until { $0.openNow == 0 && $0.connections.allSatisfy(\.peerLeft) }
            }
        }
    }

    @Test("A server that reads nothing of the body times out", .timeLimit(.minutes(5)))
    func upload() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.send("HTTP/1.1 100 Continue\r\n\r\n")
            try connection.pause(.seconds(1))
            // The client's close is queued behind its data, so the server sees it only by reading.
            try connection.receiveEnd()
        } during: { server in
            try await Lab.client { client in
                var request = try Lab.request(
                    server.port, method: .put, body: .bytes([UInt8](repeating: 1, count: 64 << 20)))
                request.limits.idle = Self.short
                let error = await Lab.failure { [request] in _ = try await client.send(request) }
                #expect(error?.kind == .idleTimedOut, "\(error?.message ?? "")")
                #expect(error?.message.contains("accepted no more of the request") == true, "\(error?.message ?? "")")
                try await server.until { $0.openNow == 0 }
            }
        }
    }

    @Test("A server that sends slowly keeps the connection until the total limit", .timeLimit(.minutes(5)))
    func trickle() async throws {
        let body = "0123456789012345678901234567890123456789"
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
            try connection.sendSlowly(Array(body.utf8), pause: .milliseconds(25))
        } during: { server in
            try await Lab.client { client in
                var request = try Lab.request(server.port)
                request.limits.idle = .milliseconds(700)
                let answer = try await client.send(request)
                #expect(answer.text == body)
                request.limits.total = .milliseconds(300)
                let error = await Lab.failure { [request] in _ = try await client.send(request) }
                #expect(error?.kind == .totalTimedOut, "\(error?.message ?? "")")
                #expect(error?.message.contains("not complete within 300ms") == true, "\(error?.message ?? "")")
                let record = try await server.until { $0.openNow == 0 }
                #expect(record.connections.last?.peerLeft == true)
                #expect(record.connections.last?.bytesSent ?? 0 < record.connections.first?.bytesSent ?? 0)
            }
        }
    }

    @Test("Time in which the reader pauses the stream does not count against the server", .timeLimit(.minutes(5)))
    func pausedReader() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(32 << 20)\r\n\r\n")
            for _ in 0..<32 { try connection.send([UInt8](repeating: 1, count: 1 << 20)) }
        } during: { server in
            try await Lab.client { client in
                var request = try Lab.request(server.port)
                request.limits.idle = Self.short
                let exchange = try await client.open(request)
                var total = 0
                for try await bytes in exchange.body {
                    // The reader pauses once for longer than the limit, while the server has more to send.
                    if total == 0 { try await ContinuousClock().sleep(for: .milliseconds(600)) }
                    total += bytes.count
                }
                #expect(total == 32 << 20)
            }
        }
    }

    @Test(
        "The client waits briefly for the message of a refusal and reports the part that arrived",
        .timeLimit(.minutes(5)))
    func refusal() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.send(
                "HTTP/1.1 500 Oops\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nthe disk is full")
            try connection.stall()
        } during: { server in
            try await Lab.client { client in
                var request = try Lab.request(server.port)
                request.limits.idle = .seconds(3600)
                request.limits.words = Self.short
                let exchange = try await client.open(request)
                let error = await Lab.failure { _ = try await exchange.requireSuccess() }
                #expect(error?.kind == .status && error?.status?.code == 500)
                #expect(error?.message.contains("the disk is full") == true, "\(error?.message ?? "")")
                try await server.until { $0.openNow == 0 && $0.connections.count == 1 }
            }
        }
    }
}
