import CoreTesting
import Glibc
import HTTPClient
import HTTPCore
import HTTPTesting
import Synchronization
import Testing

@Suite("Request bodies")
struct UploadTests {
    /// Responds with the length and the sum of the received bytes.
    private static let sum: ScriptedServer.Script = { connection in
        while true {
            let request = try connection.receiveRequest()
            let sum = request.body.reduce(into: UInt32(0)) { $0 = $0 &* 31 &+ UInt32($1) }
            try connection.answer(200, ["X-Method": request.method], "\(request.body.count) \(sum)")
        }
    }

    private static func expected(_ bytes: [UInt8]) -> String {
        let sum = bytes.reduce(into: UInt32(0)) { $0 = $0 &* 31 &+ UInt32($1) }
        return "\(bytes.count) \(sum)"
    }

    private static func pattern(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 8) }
    }

    @Test(
        "Bodies of any size arrive unchanged", .timeLimit(.minutes(5)),
        arguments: [0, 1, 1000, 65_536, 65_537, 300_000, 2_000_000], ["POST", "PUT", "PATCH", "DELETE", "REPORT"])
    func bytes(_ count: Int, _ method: String) async throws {
        let bytes = Self.pattern(count)
        try await ScriptedServer.run(Self.sum) { server in
            try await Lab.client { client in
                let request = try Lab.request(server.port, method: HTTPMethod(rawValue: method), body: .bytes(bytes))
                let answer = try await client.send(request)
                #expect(answer.text == Self.expected(bytes))
                #expect(answer.headers["X-Method"] == method)
                let sent = try #require(server.record.requests.first)
                #expect(sent.headers["Content-Type"] == nil)
                #expect(sent.headers["Content-Length"] == "\(count)")
            }
        }
    }

    @Test(
        "A method without a body sends no length, and a POST without a body declares an empty one",
        .timeLimit(.minutes(5)))
    func none() async throws {
        try await ScriptedServer.run(Self.sum) { server in
            try await Lab.client { client in
                for (method, length) in [("GET", nil), ("DELETE", nil), ("OPTIONS", nil), ("POST", "0"), ("PUT", "0")] {
                    let answer = try await client.send(
                        try Lab.request(server.port, method: HTTPMethod(rawValue: method)))
                    #expect(answer.text == "0 0")
                    let sent = try #require(server.record.requests.last)
                    #expect(sent.method == method && sent.headers["Content-Length"] == length)
                    #expect(sent.headers["Content-Type"] == nil && sent.headers["Transfer-Encoding"] == nil)
                }
            }
        }
    }

    @Test("A HEAD response has the length in its head and an empty body", .timeLimit(.minutes(5)))
    func head() async throws {
        try await ScriptedServer.run { connection in
            while true {
                try connection.receiveHead()
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n")
            }
        } during: { server in
            try await Lab.client { client in
                for number in 0..<2 {
                    let answer = try await client.send(try Lab.request(server.port, method: .head))
                    #expect(answer.body.isEmpty && answer.headers["Content-Length"] == "1000000000")
                    #expect(answer.isReused == (number == 1))
                }
            }
        }
    }

    @Test("A whole file and a part of a file are sent", .timeLimit(.minutes(5)))
    func file() async throws {
        let bytes = Self.pattern(700_000)
        try await TemporaryDirectory.run { folder in
            let path = "\(folder)/body"
            try write(bytes, to: path)
            try await ScriptedServer.run(Self.sum) { server in
                try await Lab.client { client in
                    for range in [nil, 0..<700_000, 1000..<500_000, 10..<10] as [Range<Int>?] {
                        let request = try Lab.request(server.port, method: .put, body: .file(path: path, range: range))
                        let answer = try await client.send(request)
                        #expect(answer.text == Self.expected(range.map { Array(bytes[$0]) } ?? bytes))
                    }
                }
            }
        }
    }

    @Test("An unreadable body is an error before anything is sent", .timeLimit(.minutes(5)))
    func noFile() async throws {
        try await TemporaryDirectory.run { folder in
            try write([1, 2, 3], to: "\(folder)/three")
            try await ScriptedServer.run(Self.sum) { server in
                try await Lab.client { client in
                    for body in [
                        HTTPBody.file(path: "\(folder)/none"), .file(path: folder), .file(path: "/dev/null"),
                        .file(path: "\(folder)/three", range: 1..<4),
                    ] {
                        let error = await Lab.failure {
                            _ = try await client.send(try Lab.request(server.port, method: .put, body: body))
                        }
                        #expect(error?.kind == .body && error?.mayHaveBeenSent == false, "\(error?.message ?? "")")
                    }
                    #expect(server.record.connections.isEmpty)
                }
            }
        }
    }

    @Test(
        "A stream with or without a length is sent as produced", .timeLimit(.minutes(5)), arguments: [true, false])
    func stream(_ isKnown: Bool) async throws {
        let part = Self.pattern(100_000)
        try await ScriptedServer.run(Self.sum) { server in
            try await Lab.client { client in
                let chunks = Chunks(count: 20) { part }
                let request = try Lab.request(
                    server.port, method: .post, body: .stream(length: isKnown ? 2_000_000 : nil, chunks))
                let answer = try await client.send(request)
                #expect(answer.text == Self.expected(Array(repeatElement(part, count: 20).joined())))
                let sent = try #require(server.record.requests.first)
                #expect(sent.headers["Content-Length"] == (isKnown ? "2000000" : nil))
                #expect(sent.headers["Transfer-Encoding"] == (isKnown ? nil : "chunked"))
            }
        }
    }

    @Test(
        "A body stream that is shorter or longer than announced is an error",
        .timeLimit(.minutes(5)), arguments: [(10, "only 6"), (3, "more")])
    func wrongLength(_ announced: Int, _ words: String) async throws {
        try await ScriptedServer.run(Self.sum) { server in
            try await Lab.client { client in
                let chunks = Chunks(count: 3) { [1, 2] }
                let error = await Lab.failure {
                    _ = try await client.send(
                        try Lab.request(server.port, method: .post, body: .stream(length: announced, chunks)))
                }
                #expect(error?.kind == .body && error?.message.contains(words) == true, "\(error?.message ?? "")")
                try await server.until { $0.openNow == 0 }
            }
        }
    }

    @Test("A stream that fails ends the request with its error", .timeLimit(.minutes(5)))
    func failing() async throws {
        try await ScriptedServer.run(Self.sum) { server in
            try await Lab.client { client in
                let left = Mutex(2)
                let chunks = Chunks(count: .max) {
                    try left.withLock { left in
                        guard left > 0 else { throw HTTPError(.invalid, "the disk is gone") }
                        left -= 1
                        return [1, 2, 3]
                    }
                }
                let error = await Lab.failure {
                    _ = try await client.send(
                        try Lab.request(server.port, method: .post, body: .stream(length: nil, chunks)))
                }
                #expect(error?.kind == .body && error?.message.contains("the disk is gone") == true)
                try await server.until { $0.openNow == 0 }
            }
        }
    }

    @Test("Progress reports the bytes sent and received", .timeLimit(.minutes(5)))
    func progress() async throws {
        try await ScriptedServer.run(Self.sum) { server in
            try await Lab.client { client in
                let seen = Mutex<[HTTPProgress]>([])
                var request = try Lab.request(server.port, method: .post, body: .bytes(Self.pattern(1_000_000)))
                request.onProgress = { progress in seen.withLock { $0.append(progress) } }
                let answer = try await client.send(request)
                let all = seen.withLock { $0 }
                let last = try #require(all.last)
                #expect(last.sent == 1_000_000 && last.toSend == 1_000_000)
                #expect(last.received == answer.body.count && last.toReceive == answer.body.count)
                #expect(zip(all, all.dropFirst()).allSatisfy { $0.sent <= $1.sent && $0.received <= $1.received })
                #expect(all.count > 2)
            }
        }
    }

    @Test("An invalid request is refused before it is sent", .timeLimit(.minutes(5)))
    func refused() async throws {
        try await ScriptedServer.run(Self.sum) { server in
            try await Lab.client { client in
                for headers in [
                    ["X-A": "one\r\nX-B: two"], ["X A": "one"], ["": "one"], ["Content-Length": "5"],
                    ["Transfer-Encoding": "chunked"], ["X-A": "nul\u{0}"],
                ] as [HTTPHeaders] {
                    var request = try Lab.request(server.port)
                    request.headers = headers
                    let error = await Lab.failure { [request] in _ = try await client.send(request) }
                    #expect(error?.kind == .invalid && error?.mayHaveBeenSent == false)
                }
                for method in ["", "GET /x HTTP/1.1\r\nX: y", "GE T"] {
                    let request = try Lab.request(server.port, method: HTTPMethod(rawValue: method))
                    let error = await Lab.failure { _ = try await client.send(request) }
                    #expect(error?.kind == .invalid)
                }
                var request = try Lab.request(server.port, method: .post)
                request.idempotencyKey = "a\r\nb"
                let error = await Lab.failure { [request] in _ = try await client.send(request) }
                #expect(error?.kind == .invalid)
                #expect(server.record.connections.isEmpty)
            }
        }
    }

    @Test("Empty values, long values and the idempotency key arrive", .timeLimit(.minutes(5)))
    func headers() async throws {
        try await ScriptedServer.run(Self.sum) { server in
            try await Lab.client { client in
                var request = try Lab.request(server.port, method: .post)
                let long = String(repeating: "x", count: 20_000)
                request.headers = ["X-Empty": "", "X-Long": long, "X-Two": "1", "X-TWO": "2", "User-Agent": "mine"]
                request.idempotencyKey = "key-1"
                _ = try await client.send(request)
                let sent = try #require(server.record.requests.first).headers
                #expect(sent["X-Empty"] == "" && sent["X-Long"] == long && sent.all("X-Two") == ["1", "2"])
                #expect(sent["Idempotency-Key"] == "key-1" && sent.all("User-Agent") == ["mine"])
            }
        }
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let count = unsafe Glibc.write(descriptor, bytes, bytes.count)
        #expect(count == bytes.count)
        close(descriptor)
    }

    @Test("A body is compressed if that is enabled and makes it shorter", .timeLimit(.minutes(5)))
    func compressed() async throws {
        try await ScriptedServer.run { connection in
            while true {
                let request = try connection.receiveRequest()
                let encoding = request.headers["Content-Encoding"] ?? "none"
                try connection.answer(200, ["X-Encoding": encoding], "\(request.body.count)")
            }
        } during: { server in
            try await Lab.client { client in
                let text = [UInt8](repeating: UInt8(ascii: "a"), count: 1 << 20)
                var request = try Lab.request(server.port, method: .post, body: .bytes(text))
                request.compressesBody = true
                let answer = try await client.send(request)
                let sent = try #require(server.record.requests.last?.body)
                #expect(answer.headers["X-Encoding"] == "gzip" && sent.count < 10_000)
                let plain = try await PythonPeer.output(
                    source: "import gzip, sys; print(gzip.decompress(sys.stdin.buffer.read()).count(b'a'))", input: sent
                )
                #expect(plain == "1048576\n")
                request.body = .text("short")
                let short = try await client.send(request)
                #expect(short.headers["X-Encoding"] == "none" && short.text == "5")
                request.compressesBody = false
                request.body = .bytes(text)
                let unasked = try await client.send(request)
                #expect(unasked.headers["X-Encoding"] == "none" && unasked.text == "1048576")
            }
        }
    }
}
