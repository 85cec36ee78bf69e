import HTTPCore
import HTTPServer
import LoopKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct DrainTests {
    private struct Running {
        let server: TestServer
        let task: Task<Void, any Error>
    }

    private func start(_ routes: [Route], drain: Duration) async throws -> Running {
        var configuration = ServerConfiguration()
        configuration.limits.drain = drain
        let server = HTTPServer(try Routes(routes), configuration)
        let (started, signal) = AsyncStream.makeStream(of: [BoundAddress].self)
        // Each test awaits this task.
        let task = Task { try await server.run { signal.yield($0) } }
        for await addresses in started {
            return Running(server: TestServer(addresses: addresses, loop: EventLoop()), task: task)
        }
        throw RawClient.Failed("the server did not start")
    }

    @Test("A shutdown closes idle connections at once, accepts no new ones, and lets a handler finish")
    func graceful() async throws {
        let signals = Signals()
        let release = Signals()
        let running = try await start(
            [
                Route(.get, "/wait", "wait", "Waits") { _ in
                    signals.send("begun")
                    await release.wait(for: "go")
                    return HTTPAnswer.text(Task.isCancelled ? "cancelled" : "finished")
                },
                Route(.get, "/hello", "hello", "Says hello") { _ in HTTPAnswer.text("hello") },
            ], drain: .seconds(30))
        let idle = try running.server.client()
        try await idle.send("GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try await idle.receive(until: "hello")
        let busy = try running.server.client()
        try await busy.send("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await signals.wait(for: "begun")
        running.task.cancel()
        #expect(try await idle.receive() == nil)
        #expect(throws: RawClient.Failed.self) { try running.server.client() }
        release.send("go")
        let answer = try await busy.receiveAll()
        #expect(answer.answerBody == "finished" && answer.contains("Connection: close\r\n"))
        try await running.task.value
        running.server.loop.stop()
    }

    @Test("A handler that does not finish in time is cancelled")
    func limited() async throws {
        let signals = Signals()
        let running = try await start(
            [
                Route(.get, "/wait", "wait", "Waits") { _ in
                    signals.send("begun")
                    do { try await Task.sleep(for: .seconds(3600)) } catch { signals.send("cancelled") }
                    return HTTPAnswer.text("too late")
                },
                Route(.get, "/events", "events", "Streams") { _ in
                    HTTPAnswer.events { _ in try await Task.sleep(for: .seconds(3600)) }
                },
            ], drain: .milliseconds(200))
        let busy = try running.server.client()
        try await busy.send("GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n")
        let stream = try running.server.client()
        try await stream.send("GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try await stream.receive(until: "\r\n\r\n")
        await signals.wait(for: "begun")
        let start = ContinuousClock.now
        running.task.cancel()
        await signals.wait(for: "cancelled")
        try await running.task.value
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(try await busy.receive() == nil)
        running.server.loop.stop()
    }

    @Test("An endless stream ends properly as soon as the server shuts down")
    func endless() async throws {
        let signals = Signals()
        let running = try await start(
            [
                Route(.get, "/news", "news", "Streams") { request in
                    HTTPAnswer.events(isEndless: true) { events in
                        try await events.send(data: "\(request.isServerEnding)")
                        do { try await Task.sleep(for: .seconds(3600)) } catch {
                            signals.send("told \(request.isServerEnding)")
                            throw error
                        }
                    }
                }
            ], drain: .seconds(3600))
        let stream = try running.server.client()
        try await stream.send("GET /news HTTP/1.1\r\nHost: localhost\r\n\r\n")
        _ = try await stream.receive(until: "false")
        running.task.cancel()
        await signals.wait(for: "told true")
        // The stream ends with the last chunk and is not truncated.
        #expect(try await stream.receiveAll().hasSuffix("0\r\n\r\n"))
        try await running.task.value
        running.server.loop.stop()
    }
}
