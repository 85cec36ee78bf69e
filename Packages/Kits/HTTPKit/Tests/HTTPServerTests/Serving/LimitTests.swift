import HTTPCore
import HTTPServer
import Testing

@Suite(.timeLimit(.minutes(5))) struct LimitTests {
    static let routes = [
        Route(.get, "/hello", "hello", "Says hello") { _ in HTTPAnswer.text("hello") },
        Route(.post, "/echo", "echo", "Gives it back", .upload("Bytes")) { _, body in
            HTTPAnswer.text("\(try await body.bytes().count)")
        },
    ]

    @Test("A head that arrives too slowly is refused, even if it arrives steadily")
    func slowHead() async throws {
        try await withServer(Self.routes, { $0.limits.head = .milliseconds(400) }) { server in
            let client = try server.client()
            async let answer = client.receiveAll()
            // The test needs real time to pass: it sends one byte now and then, for longer than the limit.
            let head = "GET /hello HTTP/1.1\r\nHost: localhost\r\nX: " + String(repeating: "a", count: 1000)
            var sent = 0
            for byte in head {
                do { try await client.send(String(byte)) } catch { break }
                sent += 1
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await answer.status == 408)
            #expect(sent < head.utf8.count)
        }
    }

    @Test("An idle connection is closed without a response")
    func idle() async throws {
        try await withServer(Self.routes, { $0.limits.idle = .milliseconds(200) }) { server in
            let client = try server.client()
            #expect(try await client.receiveAll().isEmpty)
            let second = try server.client()
            try await second.send("GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n")
            #expect(try await second.receiveAll().answerBody == "hello")
        }
    }

    @Test("A body that stops arriving is refused")
    func stalledBody() async throws {
        try await withServer(Self.routes, { $0.limits.stall = .milliseconds(200) }) { server in
            let client = try server.client()
            try await client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf")
            let answer = try await client.receiveAll()
            #expect(answer.status == 408 && answer.contains("Connection: close\r\n"))
        }
    }

    @Test("Connections beyond the limit are refused, and accepted again when one closes")
    func connections() async throws {
        try await withServer(Self.routes, { $0.limits.connections = 2 }) { server in
            let first = try server.client()
            let second = try server.client()
            for client in [first, second] {
                try await client.send("GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n")
                _ = try await client.receive(until: "hello")
            }
            let third = try server.client()
            #expect(try await third.receiveAll().status == 503)
            first.close()
            // Only the server knows when it has seen the close, so the test retries until it accepts.
            while try await server.get("/hello").status != 200 { await Task.yield() }
            second.close()
        }
    }

    @Test("Connections of one peer beyond its limit are refused")
    func perPeer() async throws {
        try await withServer(Self.routes, { $0.limits.connectionsPerPeer = 1 }) { server in
            let first = try server.client()
            try await first.send("GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n")
            _ = try await first.receive(until: "hello")
            #expect(try await server.client().receiveAll().status == 503)
            first.close()
        }
    }

    @Test("A request beyond the limit of handlers is refused, and later requests are served")
    func handlers() async throws {
        let signals = Signals()
        let release = Signals()
        let routes =
            Self.routes + [
                Route(.get, "/wait", "wait", "Waits") { _ in
                    signals.send("begun")
                    await release.wait(for: "go")
                    return HTTPAnswer.text("waited")
                }
            ]
        try await withServer(routes, { $0.limits.handlers = 1 }) { server in
            let waiting = try server.client()
            try await waiting.send("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await signals.wait(for: "begun")
            let busy = try await server.get("/hello")
            #expect(busy.status == 503 && busy.contains("Retry-After: 1\r\n"))
            release.send("go")
            #expect(try await waiting.receive(until: "waited").status == 200)
            #expect(try await server.get("/hello").status == 200)
            waiting.close()
        }
    }

    @Test("Streams and event streams count as handlers until they end")
    func streams() async throws {
        let signals = Signals()
        let release = Signals()
        let routes =
            Self.routes + [
                Route(.get, "/stream", "stream", "Waits") { _ in
                    HTTPAnswer.stream("text/plain") { body in
                        try await body.write("begun")
                        signals.send("begun")
                        await release.wait(for: "go")
                    }
                },
                Route(.get, "/events", "events", "Waits") { _ in
                    HTTPAnswer.events { events in
                        try await events.send(data: "begun")
                        signals.send("begun")
                        await release.wait(for: "go")
                    }
                },
                Route(.get, "/fails", "fails", "Fails") { _ in
                    HTTPAnswer.text("no").header("Connection", "close")
                },
            ]
        try await withServer(routes, { $0.limits.handlers = 1 }) { server in
            for path in ["/stream", "/events"] {
                let waiting = try server.client()
                try await waiting.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                await signals.wait(for: "begun")
                #expect(try await server.get("/hello").status == 503, "\(path)")
                release.send("go")
                #expect(try await waiting.receiveAll().contains("begun"))
                #expect(try await server.get("/hello").status == 200, "\(path)")
            }
            // A response that fails must release its handler slot.
            for _ in 0..<3 { #expect(try await server.get("/fails").status == 500) }
            #expect(try await server.get("/hello").status == 200)
        }
    }

    @Test("A body that arrives byte by byte is refused when it takes too long in total")
    func drippedBody() async throws {
        try await withServer(Self.routes, { $0.limits.stall = .milliseconds(400) }) { server in
            let client = try server.client()
            try await client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
            async let answer = client.receiveAll()
            let start = ContinuousClock.now
            // The test needs real time to pass: it sends one byte now and then.
            while ContinuousClock.now - start < .seconds(60) {
                do { try await client.send("x") } catch { break }
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(try await answer.status == 408)
            #expect(ContinuousClock.now - start < .seconds(50))
        }
    }
}
