import Capabilities
import HTTPCore
import HTTPServer
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5))) struct StreamTests {
    @Test("A stream is sent in chunks, with its known length, or to an HTTP/1.0 client until the close")
    func framing() async throws {
        let routes = [
            Route(.get, "/chunks", "chunks", "Two pieces") { _ in
                HTTPAnswer.stream("text/plain") { body in
                    try await body.write("hello ")
                    try await body.write("")
                    try await body.write("world")
                }
            },
            Route(.get, "/sized", "sized", "Five bytes") { _ in
                HTTPAnswer.stream("text/plain", length: 5) { body in
                    try await body.write("he")
                    try await body.write("llo")
                }
            },
        ]
        try await withServer(routes) { server in
            let chunks = try await server.get("/chunks")
            #expect(chunks.contains("Transfer-Encoding: chunked\r\n"))
            #expect(chunks.answerBody == "6\r\nhello \r\n5\r\nworld\r\n0\r\n\r\n")
            let sized = try await server.get("/sized")
            #expect(sized.contains("Content-Length: 5\r\n") && sized.answerBody == "hello")
            let old = try await server.exchange("GET /chunks HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(old.answerBody == "hello world" && old.contains("Connection: close\r\n"))
            #expect(!old.contains("Transfer-Encoding"))
            #expect(
                try await Curl.run("\(server.url)/chunks", "\(server.url)/sized", "\(server.url)/chunks")
                    == "hello worldhellohello world")
        }
    }

    private struct Oops: Error {}

    @Test("An error before the first byte is answered, and a later error truncates the stream")
    func errors() async throws {
        let routes = [
            Route(.get, "/early", "early", "Fails early") { _ in
                HTTPAnswer.stream("text/plain") { _ in throw RequestProblem.conflict("it is busy") }
            },
            Route(.get, "/late", "late", "Fails late") { _ in
                HTTPAnswer.stream("text/plain") { body in
                    try await body.write("begun")
                    throw Oops()
                }
            },
            Route(.get, "/short", "short", "Writes too little") { _ in
                HTTPAnswer.stream("text/plain", length: 9) { body in try await body.write("begun") }
            },
            Route(.get, "/long", "long", "Writes too much") { _ in
                HTTPAnswer.stream("text/plain", length: 2) { body in try await body.write("begun") }
            },
            Route(.get, "/foreign", "foreign", "Fails inside") { _ -> HTTPAnswer in throw Oops() },
        ]
        try await withServer(routes) { server in
            let early = try await server.get("/early")
            #expect(early.status == 409 && early.contains("it is busy"))
            let late = try await server.get("/late")
            #expect(late.status == 200 && late.contains("begun") && !late.contains("0\r\n\r\n"))
            let short = try await server.get("/short")
            #expect(short.status == 200 && short.answerBody == "begun")
            #expect(try await server.get("/long").status == 500)
            let foreign = try await server.get("/foreign")
            #expect(foreign.status == 500 && foreign.contains("server.internal") && !foreign.contains("Oops"))
        }
    }

    @Test("A client that does not read pauses the producer, and reading resumes it")
    func backPressure() async throws {
        let written = Mutex(0)
        let ended = Signals()
        let routes = [
            Route(.get, "/endless", "endless", "Without end") { _ in
                HTTPAnswer.stream("application/octet-stream") { body in
                    defer { ended.send("ended") }
                    let piece = [UInt8](repeating: 1, count: 64 << 10)
                    while true {
                        try await body.write(piece)
                        written.withLock { $0 += piece.count }
                    }
                }
            }
        ]
        try await withServer(routes) { server in
            let client = try server.client()
            try await client.send("GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n")
            // Only passing time shows that nothing more is written.
            func steady() async throws -> Int {
                var last = -1
                while true {
                    let now = written.withLock { $0 }
                    if now == last, now > 0 { return now }
                    last = now
                    try await Task.sleep(for: .milliseconds(200))
                }
            }
            let stopped = try await steady()
            // The two sockets' buffers and one piece.
            #expect(stopped < 8 << 20)
            var read = 0
            while read < stopped + (1 << 20) { read += try await client.receive()?.count ?? 0 }
            #expect(written.withLock { $0 } > stopped)
            client.close()
            await ended.wait(for: "ended")
        }
    }

    @Test("A client that does not read for too long is dropped")
    func stalled() async throws {
        let failures = Signals()
        let routes = [
            Route(.get, "/endless", "endless", "Without end") { _ in
                HTTPAnswer.stream("application/octet-stream") { body in
                    do {
                        while true { try await body.write([UInt8](repeating: 1, count: 64 << 10)) }
                    } catch let gone as ClientGone {
                        failures.send(gone.message)
                        throw gone
                    }
                }
            }
        ]
        try await withServer(routes, { $0.limits.stall = .milliseconds(300) }) { server in
            let client = try server.client()
            try await client.send("GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await failures.wait(for: "the client did not read the response for too long and was disconnected")
            client.close()
        }
    }

    @Test("A client that closes or resets its connection cancels the handler", arguments: [true, false])
    func vanished(_ resets: Bool) async throws {
        let signals = Signals()
        let routes = [
            Route(.get, "/wait", "wait", "Waits") { _ in
                signals.send("begun")
                do { try await Task.sleep(for: .seconds(3600)) } catch { signals.send("cancelled") }
                return HTTPAnswer.text("never seen")
            }
        ]
        try await withServer(routes) { server in
            let client = try server.client()
            try await client.send("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await signals.wait(for: "begun")
            let start = ContinuousClock.now
            if resets { client.reset() } else { client.close() }
            await signals.wait(for: "cancelled")
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }

    @Test("An upload is read only as fast as the handler reads it")
    func slowHandler() async throws {
        let signals = Signals()
        let go = Signals()
        let routes = [
            Route(.post, "/upload", "upload", "Reads late", .upload("Bytes")) { _, body in
                signals.send("begun")
                await go.wait(for: "go")
                var count = 0
                for try await piece in body { count += piece.count }
                return HTTPAnswer.text("\(count)")
            }.bodyLimit(ByteCount(1 << 30))
        ]
        try await withServer(routes) { server in
            let client = try server.client()
            let size = 64 << 20
            try await client.send("POST /upload HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(size)\r\n\r\n")
            await signals.wait(for: "begun")
            let sent = Mutex(0)
            async let sending: Void = {
                let piece = [UInt8](repeating: 1, count: 1 << 20)
                for _ in 0..<64 {
                    try await client.send(piece)
                    sent.withLock { $0 += piece.count }
                }
            }()
            try await Task.sleep(for: .milliseconds(300))
            #expect(sent.withLock { $0 } < 16 << 20)
            go.send("go")
            #expect(try await client.receive(until: "\(size)").hasSuffix("\r\n\r\n\(size)"))
            try await sending
            client.close()
        }
    }
}
