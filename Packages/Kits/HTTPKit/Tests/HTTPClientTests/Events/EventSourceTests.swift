import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import Synchronization
import Testing

@Suite("Event source")
struct EventSourceTests {
    /// Runs a source on a clock that the test advances.
    private func source<Result>(
        _ port: Int, clock: TestClock = TestClock(), path: String = "/events",
        isolation: isolated (any Actor)? = #isolation, _ body: (EventSource, TestClock) async throws -> Result
    ) async throws -> Result {
        var configuration = HTTPClient.Configuration.standalone
        configuration.clock = clock
        return try await Lab.client(configuration) { client in
            try await body(EventSource(client, try Lab.request(port, path)), clock)
        }
    }

    /// Advances the clock by `wait` once someone sleeps on it, first to a millisecond short of it: nothing may happen
    /// earlier.
    private func pass(_ wait: Duration, on clock: TestClock) async {
        await clock.waitForSleepers()
        clock.advance(by: wait - .milliseconds(1))
        clock.advance(by: .milliseconds(1))
    }

    @Test("A source sends the last event id, waits as the server says, and ends with 204", .timeLimit(.minutes(5)))
    func comesBack() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            switch connection.number {
            case 0:
                try connection.beginEvents()
                try connection.send(": hello\nretry: 250\nid: 1\ndata: a\n\nid: 2\ndata: b\n\n")
            case 1:
                try connection.beginEvents()
                // An id counts without data; an unfinished event does not count.
                try connection.send("data: c\n\nid: 9\n\nid: 10\ndata: lost")
            case 2:
                try connection.beginEvents()
                try connection.send("id\ndata: d\n\n")
            default:
                try connection.answer(204)
            }
        } during: { server in
            try await source(server.port) { source, clock in
                async let events: [ServerSentEvent] = {
                    var events: [ServerSentEvent] = []
                    for try await event in source { events.append(event) }
                    return events
                }()
                for _ in 0..<3 { await pass(.milliseconds(250), on: clock) }
                let read = try await events
                #expect(read.map(\.text) == ["a", "b", "c", "d"])
                #expect(read.map(\.lastEventID) == ["1", "2", "2", ""])
                let requests = server.record.requests
                #expect(requests.map { $0.headers["Last-Event-ID"] } == [nil, "2", "9", nil])
                #expect(requests.allSatisfy { $0.headers["Accept"] == "text/event-stream" })
                #expect(requests.allSatisfy { $0.headers["Cache-Control"] == "no-store" && $0.method == "GET" })
            }
        }
    }

    @Test(
        "A source waits longer after each failure in a row and gives up after its limit of attempts",
        .timeLimit(.minutes(5)))
    func backsOff() async throws {
        try await RefusingPort.run { port in
            try await source(port) { source, clock in
                var source = source
                source.wait = .seconds(1)
                source.longestWait = .seconds(5)
                source.attempts = 5
                let changes = Mutex<[Duration]>([])
                source.onChange = { change in
                    if case .waits(let time, .some) = change { changes.withLock { $0.append(time) } }
                }
                async let error = Lab.failure { [source] in
                    for try await _ in source { Issue.record("an event came from nowhere") }
                }
                for wait in [1, 2, 4, 5] { await pass(.seconds(wait), on: clock) }
                #expect(await error?.kind == .refused)
                #expect(changes.withLock { $0 } == [.seconds(1), .seconds(2), .seconds(4), .seconds(5)])
            }
        }
    }

    @Test("A source reconnects after a closed, a truncated, a reset and a silent connection", .timeLimit(.minutes(5)))
    func faults() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            guard connection.number < 4 else { return try connection.answer(204) }
            try connection.send("HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream ; charset=utf-8\r\n")
            try connection.send(connection.number == 0 ? "Connection: close\r\n\r\n" : "Content-Length: 1000\r\n\r\n")
            try connection.send("data: \(connection.number)\n\n")
            switch connection.number {
            case 2:
                // The client must read the event before the reset discards it.
                try connection.pause(.milliseconds(300))
                connection.reset()
            case 3: try connection.stall()
            default: break
            }
        } during: { server in
            let clock = TestClock()
            var configuration = HTTPClient.Configuration.standalone
            configuration.clock = clock
            try await Lab.client(configuration) { client in
                var request = try Lab.request(server.port)
                request.limits.idle = .milliseconds(500)
                let source = EventSource(client, request)
                async let texts: [String] = {
                    var texts: [String] = []
                    for try await event in source { texts.append(event.text) }
                    return texts
                }()
                for _ in 0..<4 { await pass(.seconds(3), on: clock) }
                let read = try await texts
                #expect(read == ["0", "1", "2", "3"])
                #expect(server.record.requests.count == 5)
            }
        }
    }

    @Test(
        "A source treats any other response as final", .timeLimit(.minutes(5)),
        arguments: [
            (404, "text/event-stream", HTTPError.Kind.status), (500, "text/event-stream", .status),
            (503, "text/event-stream", .status), (206, "text/event-stream", .status), (401, "text/html", .status),
            (200, "application/json", .badAnswer), (200, "text/event-stream2", .badAnswer), (200, "", .badAnswer),
        ])
    func final(_ status: Int, _ type: String, _ kind: HTTPError.Kind) async throws {
        try await ScriptedServer.run { connection in
            while true {
                try connection.receiveHead()
                try connection.answer(status, type.isEmpty ? [:] : ["Content-Type": type], "data: x\n\n")
            }
        } during: { server in
            try await source(server.port) { source, _ in
                var events = source.makeAsyncIterator()
                let error = await Lab.failure { _ = try await events.next() }
                #expect(error?.kind == kind, "\(error?.message ?? "")")
                #expect(error?.message.contains("events were expected") == true)
                // The end is final: later reads return nil too.
                let end = try await events.next()
                #expect(end == nil)
                #expect(server.record.requests.count == 1)
            }
        }
    }

    @Test(
        "Redirects are followed, each time from the first address", .timeLimit(.minutes(5)),
        arguments: [301, 302, 303, 307, 308])
    func redirects(_ status: Int) async throws {
        try await ScriptedServer.run { connection in
            while true {
                let request = try connection.receiveHead()
                if request.target == "/events" {
                    try connection.answer(status, ["Location": "/moved"])
                } else if request.headers["Last-Event-ID"] == "5" {
                    try connection.answer(204)
                } else {
                    try connection.beginEvents()
                    return try connection.send("id: 5\ndata: a\n\n")
                }
            }
        } during: { server in
            try await source(server.port) { source, clock in
                async let texts: [String] = {
                    var texts: [String] = []
                    for try await event in source { texts.append(event.text) }
                    return texts
                }()
                await pass(.seconds(3), on: clock)
                let read = try await texts
                #expect(read == ["a"])
                #expect(server.record.requests.map(\.target) == ["/events", "/moved", "/events", "/moved"])
            }
        }
    }

    @Test("A source pauses before it asks a server again that ends each stream at once", .timeLimit(.minutes(5)))
    func noPause() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            guard connection.number < 3 else { return try connection.answer(204) }
            try connection.beginEvents()
            try connection.send("retry: 0\n\n")
        } during: { server in
            try await source(server.port) { source, clock in
                async let count: Int = {
                    var count = 0
                    for try await _ in source { count += 1 }
                    return count
                }()
                for _ in 0..<3 { await pass(.seconds(60), on: clock) }
                let read = try await count
                #expect(read == 0)
            }
        }
    }

    @Test("Only a GET reconnects, and a cancelled reader disconnects", .timeLimit(.minutes(5)))
    func ends() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.beginEvents()
            try connection.send("data: a\n\n")
            try connection.stall()
        } during: { server in
            try await Lab.client { client in
                let post = EventSource(client, try Lab.request(server.port, method: .post))
                let error = await Lab.failure { for try await _ in post {} }
                #expect(error?.kind == .invalid && server.record.connections.isEmpty)
                let source = EventSource(client, try Lab.request(server.port))
                let (opened, open) = AsyncStream.makeStream(of: Void.self)
                let reader = Task {
                    for try await _ in source { open.yield() }
                }
                for await _ in opened { break }
                reader.cancel()
                await #expect(throws: CancellationError.self) { try await reader.value }
                try await server.until { $0.openNow == 0 }
            }
        }
    }

    @Test(
        "A source asks a server that only opens and ends streams less and less often, then gives up",
        .timeLimit(.minutes(5)))
    func useless() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            try connection.beginEvents()
            try connection.send("retry: 0\n\n")
        } during: { server in
            try await source(server.port) { source, clock in
                var source = source
                source.attempts = 5
                async let error = Lab.failure { [source] in
                    for try await _ in source { Issue.record("an event came from nowhere") }
                }
                for wait in [100, 200, 400, 800] { await pass(.milliseconds(wait), on: clock) }
                #expect(await error?.kind == .cut)
                #expect(server.record.requests.count == 5)
            }
        }
    }
}
