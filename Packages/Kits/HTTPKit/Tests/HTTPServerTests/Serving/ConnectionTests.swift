import HTTPCore
import HTTPServer
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConnectionTests {
    static let routes = [
        Route(.get, "/hello", "hello", "Says hello") { _ in HTTPAnswer.text("hello") },
        Route(.get, "/number/{n}", "number", "Gives it back", .path("n", "The number", as: Int.self)) { _, n in
            HTTPAnswer.text("<\(n)>")
        },
        Route(.post, "/echo", "echo", "Gives it back", .upload("Bytes")) { _, body in
            HTTPAnswer.bytes(try await body.bytes(), type: "application/octet-stream")
        },
        Route(.post, "/deaf", "deaf", "Does not listen") { _ in HTTPAnswer.text("done") },
    ]

    private static let hello = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test("A connection serves many requests until the client asks to close it")
    func keepAlive() async throws {
        try await withServer(Self.routes) { server in
            let client = try server.client()
            for _ in 0..<20 {
                try await client.send(Self.hello)
                let answer = try await client.receive(until: "hello")
                #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains("Content-Length: 5\r\n"))
                #expect(answer.contains("\r\nDate: ") && answer.contains(" GMT\r\n"))
                #expect(!answer.contains("Connection:"))
            }
            try await client.send("GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: Close\r\n\r\n")
            let last = try await client.receiveAll()
            #expect(last.contains("Connection: close\r\n") && last.answerBody == "hello")
        }
    }

    @Test("Pipelined requests are answered in order, however their bytes are cut")
    func pipelining() async throws {
        try await withServer(Self.routes) { server in
            let requests = (0..<200).map { number in
                number % 3 == 0
                    ? "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n\r\n<\(1000 + number)>"
                    : "GET /number/\(1000 + number) HTTP/1.1\r\nHost: localhost\r\n\r\n"
            }
            let all = Array(requests.joined().utf8)
            for size in [all.count, 7, 1000] {
                let client = try server.client()
                var start = 0
                while start < all.count {
                    try await client.send(Array(all[start..<min(start + size, all.count)]))
                    start += size
                }
                let answers = try await client.receive(until: "<1199>")
                #expect(
                    answers.split(separator: "<").dropFirst().compactMap { Int($0.prefix(4)) } == Array(1000..<1200))
                client.close()
            }
        }
    }

    @Test("A client that closes its sending side after the last request still gets every answer")
    func halfClosed() async throws {
        try await withServer(Self.routes) { server in
            let client = try server.client()
            try await client.send(Self.hello + Self.hello + Self.hello)
            client.halfClose()
            #expect(try await client.receiveAll().occurrences(of: "HTTP/1.1 200 OK") == 3)
        }
    }

    @Test("An HTTP/1.0 connection closes unless the client asks to keep it")
    func oldClients() async throws {
        try await withServer(Self.routes) { server in
            let plain = try await server.exchange("GET /hello HTTP/1.0\r\n\r\n")
            #expect(plain.status == 200 && plain.contains("Connection: close\r\n"))
            let client = try server.client()
            for _ in 0..<2 {
                try await client.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                #expect(try await client.receive(until: "hello").contains("Connection: keep-alive\r\n"))
            }
            client.close()
        }
    }

    @Test(
        "A HEAD request is answered like GET without the body, OPTIONS lists the methods, and other methods are refused"
    )
    func methods() async throws {
        try await withServer(Self.routes) { server in
            let head = try await server.exchange("HEAD /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(head.status == 200 && head.contains("Content-Length: 5\r\n") && head.answerBody.isEmpty)
            let options = try await server.exchange(
                "OPTIONS /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(options.status == 204 && options.contains("Allow: GET, HEAD, OPTIONS\r\n"))
            #expect(!options.contains("Content-Length"))
            let star = try await server.exchange("OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(star.status == 204)
            let put = try await server.exchange("PUT /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            #expect(put.status == 405 && put.contains("Allow: GET, HEAD, OPTIONS\r\n"))
            #expect(try await server.get("/nothing").status == 404)
            #expect(try await server.get("/hello/../etc").status == 400)
        }
    }

    @Test("A body is read completely, with a length and in chunks")
    func bodies() async throws {
        try await withServer(Self.routes) { server in
            let text = String(repeating: "0123456789", count: 50_000)
            let sized = try await server.exchange(
                "POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: \(text.utf8.count)\r\n\r\n"
                    + text)
            #expect(sized.answerBody == text)
            var chunks = ""
            for start in stride(from: 0, to: 500_000, by: 12_345) {
                let piece = text.dropFirst(start).prefix(12_345)
                chunks += "\(String(piece.utf8.count, radix: 16))\r\n\(piece)\r\n"
            }
            let chunked = try await server.exchange(
                "POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + chunks + "0\r\n\r\n")
            #expect(chunked.answerBody == text)
        }
    }

    @Test("A 100 Continue is sent only when the handler reads the body")
    func continues() async throws {
        try await withServer(Self.routes) { server in
            let head = "HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
            let client = try server.client()
            try await client.send("POST /echo \(head)")
            #expect(try await client.receive(until: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
            try await client.send("12345")
            #expect(try await client.receive(until: "12345").status == 200)
            // A handler that does not read the body responds at once, and the server cannot know whether the body
            // follows.
            try await client.send("POST /deaf \(head)")
            let answer = try await client.receiveAll()
            #expect(answer.status == 200 && answer.contains("Connection: close\r\n"))
            // A body that is too large is refused before the client sends it.
            let large = try await server.exchange(
                "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\nExpect: 100-continue\r\n\r\n")
            #expect(large.status == 413)
        }
    }

    @Test("A small unread body is discarded, and a large one ends the connection")
    func unwanted() async throws {
        try await withServer(Self.routes) { server in
            let client = try server.client()
            for _ in 0..<3 {
                let body = String(repeating: "x", count: 100_000)
                try await client.send("POST /deaf HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n\(body)")
                #expect(try await client.receive(until: "done").status == 200)
            }
            try await client.send("POST /deaf HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000\r\n\r\n")
            try await client.send(String(repeating: "x", count: 500_000))
            let answer = try await client.receiveAll()
            #expect(answer.contains("Connection: close\r\n") && answer.answerBody == "done")
        }
    }

    @Test("A body beyond the limit is refused while it arrives, and the client can read why")
    func tooLarge() async throws {
        try await withServer(Self.routes, { $0.limits.body = 100_000 }) { server in
            let client = try server.client()
            try await client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = "10000\r\n" + String(repeating: "x", count: 65_536) + "\r\n"
            for _ in 0..<4 { try await client.send(chunk) }
            let answer = try await client.receiveAll()
            #expect(answer.status == 413 && answer.contains("Connection: close\r\n"))
        }
    }
}
