import Glibc
import HTTPClient
import HTTPCore
import HTTPTesting
import Synchronization
import Testing

@Suite("Flow control")
struct FlowTests {
    /// Responds with a body that never ends.
    private static let flood: ScriptedServer.Script = { connection in
        try connection.receiveHead()
        try connection.send("HTTP/1.1 200 OK\r\n\r\n")
        try connection.sendEndlessly([UInt8](repeating: 7, count: 64 << 10))
    }

    @Test("A reader that pauses makes the server pause until it resumes", .timeLimit(.minutes(5)))
    func backPressure() async throws {
        try await ScriptedServer.run(Self.flood) { server in
            try await Lab.client { client in
                let exchange = try await client.open(try Lab.request(server.port))
                var body = exchange.body.makeAsyncIterator()
                _ = try await body.next()
                // The server has stopped when two looks, with a pause between, find the same count: the system's
                // buffers are full.
                var sent = 0
                repeat {
                    sent = server.record.bytesSent
                    try await Task.sleep(for: .milliseconds(200))
                } while server.record.bytesSent != sent
                #expect(sent < 32 << 20, "\(sent) bytes were sent to a reader that had stopped")
                var taken = 0
                while taken < 4 * sent { taken += try await body.next()?.count ?? 0 }
                #expect(server.record.bytesSent > sent)
                print("the server was stopped after \(sent >> 10) KiB")
            }
        }
    }

    @Test("A body producer that is faster than the server waits for it", .timeLimit(.minutes(5)))
    func slowServer() async throws {
        let made = Mutex(0)
        let total = 256 << 20
        let chunk = [UInt8](repeating: 5, count: 64 << 10)
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            while connection.number == 0, made.withLock({ $0 }) == 0 {}
            // Nothing is read until the producer has stopped.
            var before = -1
            while before != made.withLock({ $0 }) {
                before = made.withLock { $0 }
                try connection.pause(.milliseconds(200))
            }
            #expect(before < 32 << 20, "\(before) bytes were made for a server that takes none")
            try connection.discard(total)
            try connection.answer(200, [:], "got it")
        } during: { server in
            try await Lab.client { client in
                let stream = Chunks(count: total / chunk.count) {
                    made.withLock { $0 += chunk.count }
                    return chunk
                }
                let answer = try await client.send(
                    try Lab.request(server.port, method: .put, body: .stream(length: total, stream)))
                #expect(answer.text == "got it")
                #expect(made.withLock { $0 } == total)
            }
        }
    }

    @Test("A gzip bomb stops at the limit of a whole body and can be read as a stream", .timeLimit(.minutes(5)))
    func bomb() async throws {
        let size = 256 << 20
        try await PythonPeer.run(source: Self.bomber, ["\(size)"]) { peer in
            try await Lab.client { client in
                var request = try Lab.request(peer.port)
                request.limits.body = 1 << 20
                let error = await Lab.failure { [request] in _ = try await client.send(request) }
                #expect(error?.kind == .tooLarge && error?.message.contains("1.0 MiB") == true)
                request.acceptsCompressed = true
                var count = 0
                for try await bytes in try await client.open(request).body { count += bytes.count }
                #expect(count == size)
            }
        }
    }

    private static let bomber = """
        import gzip, http.server, io, sys
        out = io.BytesIO()
        with gzip.GzipFile(fileobj=out, mode="wb") as file:
            for _ in range(int(sys.argv[1]) >> 20): file.write(bytes(1 << 20))
        packed = out.getvalue()
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Encoding", "gzip")
                self.send_header("Content-Length", str(len(packed)))
                self.end_headers()
                try: self.wfile.write(packed)
                except OSError: pass
            def log_message(self, *words): pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        print(server.server_port, flush=True)
        server.serve_forever()
        """
}

/// A sequence that makes its elements on demand.
struct Chunks: AsyncSequence, Sendable {
    let count: Int
    let make: @Sendable () async throws -> [UInt8]

    struct AsyncIterator: AsyncIteratorProtocol {
        var left: Int
        let make: @Sendable () async throws -> [UInt8]

        mutating func next() async throws -> [UInt8]? {
            guard left > 0 else { return nil }
            left -= 1
            return try await make()
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(left: count, make: make) }
}
