import HTTPClient
import HTTPCore
import HTTPTesting
import Testing

@Suite("Malformed responses")
struct AnswerFaultTests {
    @Test(
        "A response that is not HTTP is reported as such", .timeLimit(.minutes(5)),
        arguments: [
            "SSH-2.0-OpenSSH_9.2\r\n", "220 mail ready\r\n", "\u{0}\u{1}\u{2}\u{3}\r\n\r\n", "<html>hello</html>\n",
            "HTTP/1.1 abc OK\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloworld\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nhello", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\nhello",
        ])
    func garbage(_ sent: String) async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.send(sent)
        } during: { server in
            try await Lab.client { client in
                let error = try #require(
                    await Lab.failure { _ = try await client.send(try Lab.request(server.port)) })
                #expect([.badAnswer, .cut].contains(error.kind), "\(error.kind): \(error.message)")
                #expect(error.message.contains("127.0.0.1:\(server.port)"))
                try await server.until { $0.openNow == 0 }
                #expect(server.record.connections.count == 1)
            }
        }
    }

    @Test(
        "A head is read with any kind of line end, with extra spaces and without a reason", .timeLimit(.minutes(5)),
        arguments: [
            "HTTP/1.1 200 OK\nContent-Length: 2\nX-A: b\n\nhi",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\nX-A: b\r\n\nhi",
            "HTTP/1.1 200\r\nContent-Length:2\r\nX-A:   b  \r\n\r\nhi",
            "HTTP/1.0 200 OK\r\nX-A: b\r\n\r\nhi",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-A: no\r\n\r\n"
                + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: b\r\n\r\nhi",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n1;x=y\r\nh\r\n01\r\ni\r\n0\r\nX-T: u\r\n\r\n",
        ])
    func lenient(_ sent: String) async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.send(sent)
        } during: { server in
            try await Lab.client { client in
                let answer = try await client.send(try Lab.request(server.port))
                #expect(answer.text == "hi")
                #expect(answer.headers.all("X-A") == ["b"])
            }
        }
    }

    @Test("Bytes after the announced length are dropped", .timeLimit(.minutes(5)))
    func surplus() async throws {
        try await ScriptedServer.run { connection in
            while true {
                try connection.receiveHead()
                let more = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi\(more)")
            }
        } during: { server in
            try await Lab.client { client in
                for _ in 0..<3 {
                    let answer = try await client.send(try Lab.request(server.port))
                    #expect(answer.text == "hi")
                }
            }
        }
    }

    @Test("An endless head is refused at its limit, whether it has many lines or one", .timeLimit(.minutes(5)))
    func endlessHead() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.send("HTTP/1.1 200 OK\r\n")
            if connection.number == 0 {
                try connection.sendEndlessly(Array("X-More: \(String(repeating: "x", count: 1000))\r\n".utf8))
            }
            try connection.send("X-Long: ")
            try connection.sendEndlessly([UInt8](repeating: UInt8(ascii: "x"), count: 4096))
        } during: { server in
            try await Lab.client { client in
                for _ in 0..<2 {
                    let error = await Lab.failure { _ = try await client.send(try Lab.request(server.port)) }
                    #expect(error?.kind == .headTooLarge, "\(error?.message ?? "")")
                }
                let record = try await server.until { $0.connections.count == 2 && $0.openNow == 0 }
                // Only what fits into the sockets' buffers is sent, not gigabytes.
                #expect(record.connections.allSatisfy { $0.bytesSent < 16 << 20 && $0.peerLeft })
            }
        }
    }

    @Test("A body beyond the limit is refused as soon as that is known, announced or not", .timeLimit(.minutes(5)))
    func largeBody() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            let framing = connection.number == 0 ? "Content-Length: 10000000000" : "Connection: close"
            try connection.send("HTTP/1.1 200 OK\r\n\(framing)\r\n\r\n")
            try connection.sendEndlessly([UInt8](repeating: 1, count: 1 << 16))
        } during: { server in
            try await Lab.client { client in
                for _ in 0..<2 {
                    var request = try Lab.request(server.port)
                    request.limits.body = 1 << 20
                    let error = await Lab.failure { [request] in _ = try await client.send(request) }
                    #expect(error?.kind == .tooLarge, "\(error?.message ?? "")")
                    #expect(error?.status == .ok)
                }
                let record = try await server.until { $0.connections.count == 2 && $0.openNow == 0 }
                #expect(record.connections.allSatisfy { $0.bytesSent < 16 << 20 })
            }
        }
    }

    @Test("A streamed gzip bomb is read to its end in pieces of limited size", .timeLimit(.minutes(5)))
    func streamedBomb() async throws {
        let bomb = try await gzipOfZeros(megabytes: 64)
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n")
            try connection.send(bomb)
        } during: { server in
            try await Lab.client { client in
                var request = try Lab.request(server.port)
                request.acceptsCompressed = true
                let exchange = try await client.open(request)
                var (total, largest) = (0, 0)
                for try await bytes in exchange.body {
                    total += bytes.count
                    largest = max(largest, bytes.count)
                }
                #expect(total == 64 << 20)
                #expect(largest <= 32 << 20, "\(largest)")
            }
        }
    }

    @Test("A stream that is compressed although the client did not ask for it is decompressed", .timeLimit(.minutes(5)))
    func unaskedCompression() async throws {
        let zeros = try await gzipOfZeros(megabytes: 1)
        try await ScriptedServer.run { connection in
            while true {
                try connection.receiveHead()
                try connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(zeros.count)\r\n\r\n")
                try connection.send(zeros)
            }
        } during: { server in
            try await Lab.client { client in
                let exchange = try await client.open(try Lab.request(server.port))
                #expect(try await exchange.collect(limit: 2 << 20).count == 1 << 20)
                #expect(server.record.requests.allSatisfy { $0.headers["Accept-Encoding"] == nil })
                // A caller that sets Accept-Encoding decompresses by itself, a range cannot be decompressed alone, and
                // a caller can ask for the raw bytes.
                var byHand = try Lab.request(server.port)
                byHand.headers["Accept-Encoding"] = "gzip"
                var part = try Lab.request(server.port)
                part.headers["Range"] = "bytes=0-"
                var raw = try Lab.request(server.port)
                raw.acceptsCompressed = false
                for request in [byHand, part, raw] {
                    let exchange = try await client.open(request)
                    #expect(try await exchange.collect(limit: 2 << 20) == zeros)
                }
            }
        }
    }
}
