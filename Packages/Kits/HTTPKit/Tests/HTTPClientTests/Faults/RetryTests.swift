import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Synchronization
import Testing

@Suite("Retries")
struct RetryTests {
    /// Sends a request to a server with the given answers and advances the test's clock by the expected waits.
    private func attempts(
        _ request: (Int) throws -> HTTPRequest, _ answers: [(Int, HTTPHeaders)], waits: [Duration],
        clock: TestClock = TestClock(), now: Timestamp = Timestamp(microseconds: 0),
        tracing sink: RecordingSpanSink = RecordingSpanSink()
    ) async throws -> (result: Result<HTTPResponse, HTTPError>, record: ServerRecord) {
        let next = Mutex(0)
        return try await ScriptedServer.run { connection in
            while true {
                try connection.receiveRequest()
                let index = next.withLock { next in
                    next += 1
                    return next - 1
                }
                let (status, headers) = answers[min(index, answers.count - 1)]
                if status == 0 { return connection.reset() }
                try connection.answer(status, headers, "answer \(index)")
            }
        } during: { server in
            var configuration = HTTPClient.Configuration.standalone
            configuration.clock = clock
            configuration.now = { now }
            configuration.tracer = Tracer(sinks: [sink], now: Timestamp.now)
            let request = try request(server.port)
            return try await Lab.client(configuration) { client in
                async let sent: Result<HTTPResponse, HTTPError> = {
                    do {
                        return .success(try await client.send(request))
                    } catch let error as HTTPError {
                        return .failure(error)
                    }
                }()
                for wait in waits {
                    await clock.waitForSleepers()
                    // Nothing may happen a millisecond earlier.
                    clock.advance(by: wait - .milliseconds(1))
                    clock.advance(by: .milliseconds(1))
                }
                return (try await sent, server.record)
            }
        }
    }

    /// Makes the next attempt use a new connection. When a reused one breaks before the response starts, libcurl
    /// replaces it at once by itself, because servers close idle connections at any time.
    private static let closing: HTTPHeaders = ["Connection": "close"]

    private func request(
        _ method: HTTPMethod = .get, key: String? = nil, attempts: Int = 4
    ) -> (Int) throws -> HTTPRequest {
        { port in
            var request = try Lab.request(port, method: method, body: method == .get ? .none : .text("body"))
            request.retry = RetryPolicy(attempts: attempts)
            request.retry.jitter = 0
            request.idempotencyKey = key
            return request
        }
    }

    @Test("A request to a local server is retried after 1, 2 and 4 seconds", .timeLimit(.minutes(5)))  // row D-05
    func backoff() async throws {
        let (clock, sink) = (TestClock(), RecordingSpanSink())
        let (result, record) = try await attempts(
            request(), [(503, [:]), (502, Self.closing), (0, [:]), (200, [:])],
            waits: [.seconds(1), .seconds(2), .seconds(4)], clock: clock, tracing: sink)
        let answer = try result.get()
        #expect(answer.text == "answer 3" && answer.attempts == 4)
        #expect(record.requests.count == 4)
        let retries = sink.spans.first?.events.filter { $0.name == "http.retry" } ?? []
        #expect(retries.map { $0.attributes["martlet.retry.wait_ms"] } == [1_000, 2_000, 4_000])
    }

    @Test("The last attempt's response or error is returned to the caller", .timeLimit(.minutes(5)))
    func exhausted() async throws {
        let (result, record) = try await attempts(request(attempts: 2), [(503, [:])], waits: [.seconds(1)])
        #expect(try result.get().status == .serviceUnavailable)
        #expect(record.requests.count == 2)
        let (broken, again) = try await attempts(request(attempts: 2), [(0, [:])], waits: [.seconds(1)])
        #expect(throws: HTTPError.self) { try broken.get() }
        #expect(again.requests.count == 2)
    }

    @Test("The wait before a retry follows the server's Retry-After, in seconds or as a date", .timeLimit(.minutes(5)))
    func retryAfter() async throws {
        let now = try #require(Timestamp(iso8601: "2026-11-20T09:30:00Z"))
        let (seconds, _) = try await attempts(
            request(), [(429, ["Retry-After": "7"]), (200, [:])], waits: [.seconds(7)])
        #expect(try seconds.get().text == "answer 1")
        let date = "Fri, 20 Nov 2026 09:30:20 GMT"
        let (dated, _) = try await attempts(
            request(), [(503, ["Retry-After": date]), (200, [:])], waits: [.seconds(20)], now: now)
        #expect(try dated.get().text == "answer 1")
        // The wait is too long, so the caller gets the response at once.
        let (long, record) = try await attempts(request(), [(503, ["Retry-After": "3600"])], waits: [])
        #expect(try long.get().status == .serviceUnavailable)
        #expect(record.requests.count == 1)
        #expect { try long.get().requireSuccess() } throws: { ($0 as? HTTPError)?.retryAfter == .seconds(3600) }
    }

    @Test(
        "A request that is not idempotent is sent once, unless an idempotency key makes it safe to repeat",
        .timeLimit(.minutes(5)))
    func once() async throws {
        for method in [HTTPMethod.post, .patch] {
            let (answered, first) = try await attempts(request(method), [(503, [:])], waits: [])
            #expect(try answered.get().status == .serviceUnavailable)
            let (broken, second) = try await attempts(request(method), [(0, [:])], waits: [])
            #expect { try broken.get() } throws: { ($0 as? HTTPError)?.mayHaveBeenSent == true }
            #expect(first.requests.count == 1 && second.requests.count == 1)
            let (safe, record) = try await attempts(
                request(method, key: "k-1"), [(503, Self.closing), (0, [:]), (200, [:])],
                waits: [.seconds(1), .seconds(2)])
            #expect(try safe.get().text == "answer 2")
            #expect(record.requests.map { $0.headers["Idempotency-Key"] } == ["k-1", "k-1", "k-1"])
            #expect(record.requests.allSatisfy { $0.body == Array("body".utf8) })
        }
    }

    @Test(
        "Other responses are returned to the caller at once", .timeLimit(.minutes(5)),
        arguments: [200, 204, 304, 400, 401, 403, 404, 409, 422, 500, 501])
    func others(_ status: Int) async throws {
        let (result, record) = try await attempts(request(), [(status, [:])], waits: [])
        #expect(try result.get().status.code == status)
        #expect(record.requests.count == 1)
    }

    @Test("A POST that no server accepted is sent again", .timeLimit(.minutes(5)))
    func refused() async throws {
        let clock = TestClock()
        var configuration = HTTPClient.Configuration.standalone
        configuration.clock = clock
        try await RefusingPort.run { port in
            try await Lab.client(configuration) { client in
                let request = try request(.post, attempts: 3)(port)
                async let error = Lab.failure { _ = try await client.send(request) }
                for wait in [Duration.seconds(1), .seconds(2)] {
                    await clock.waitForSleepers()
                    clock.advance(by: wait)
                }
                let found = try #require(await error)
                #expect(found.kind == .refused && found.mayHaveBeenSent == false)
                #expect(found.message.contains("cannot connect to 127.0.0.1:\(port): nothing is listening there"))
            }
        }
    }

    @Test("A POST is not retried when a reused connection breaks", .timeLimit(.minutes(5)))
    func keptConnection() async throws {
        for body in [HTTPBody.text("work"), .none] {
            let (_, record) = try await ScriptedServer.run { connection in
                while true {
                    guard try connection.receiveRequest().method == "POST" else {
                        try connection.answer(200)
                        continue
                    }
                    // The work is done, but its response is lost.
                    return connection.reset()
                }
            } during: { server in
                try await Lab.client { client in
                    _ = try await client.send(try Lab.request(server.port))
                    let error = await Lab.failure {
                        _ = try await client.send(try Lab.request(server.port, method: .post, body: body))
                    }
                    #expect(error?.mayHaveBeenSent == true, "\(error?.message ?? "")")
                    return (error, server.record)
                }
            }
            // libcurl opens a new connection by itself; the request must not be sent over it.
            #expect(record.connections.first?.requests.map(\.method) == ["GET", "POST"])
            #expect(record.requests.count == 2)
        }
    }

    @Test(
        "A streamed upload is sent once, and a response is not retried after a part of it was delivered",
        .timeLimit(.minutes(5)))
    func streams() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveRequest()
            try connection.send("HTTP/1.1 \(connection.number == 0 ? 503 : 200) X\r\nContent-Length: 10\r\n\r\nhalf")
        } during: { server in
            try await Lab.client { client in
                var upload = try Lab.request(
                    server.port, method: .put, body: .stream(length: 4, Pieces(pieces: [Array("once".utf8)])))
                upload.retry = RetryPolicy(attempts: 5, base: .milliseconds(1))
                let error = await Lab.failure { [upload] in _ = try await client.send(upload) }
                #expect(error?.kind == .cut && server.record.requests.count == 1)
                var download = try Lab.request(server.port)
                download.retry = RetryPolicy(attempts: 5, base: .milliseconds(1))
                let exchange = try await client.open(download)
                let broken = await Lab.failure { _ = try await exchange.collect(limit: 100) }
                #expect(broken?.kind == .cut && server.record.requests.count == 2)
            }
        }
    }
}

/// A body in pieces.
struct Pieces: AsyncSequence, Sendable {
    typealias Element = [UInt8]
    typealias Failure = any Error

    let pieces: [[UInt8]]
    /// How often the sequence repeats the pieces.
    var times = 1

    func makeAsyncIterator() -> Iterator { Iterator(pieces: pieces, left: pieces.count * times) }

    struct Iterator: AsyncIteratorProtocol {
        let pieces: [[UInt8]]
        var left: Int

        mutating func next() async throws -> [UInt8]? {
            guard left > 0 else { return nil }
            left -= 1
            return pieces[(pieces.count - 1) - left % pieces.count]
        }
    }
}
