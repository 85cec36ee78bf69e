import Capabilities
import ChatProviders
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Synchronization
import Testing

@Suite("A person", .timeLimit(.minutes(5)))
struct StopTests {
    @Test("who stops is obeyed at once, here and at the server")
    func stop() async throws {
        try await Fixture.run { connection in
            try connection.stream(Stream.first + Stream.text("Hel"))
            try connection.stall()
        } _: { fixture in
            let provider = try await fixture.provider()
            let (begun, signal) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                try await provider.answer(.hello) { events in
                    fixture.heard.take(events)
                    if fixture.heard.text == "Hel" { signal.yield() }
                }
            }
            var iterator = begun.makeAsyncIterator()
            _ = await iterator.next()
            let start = ContinuousClock.now
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(ContinuousClock.now - start < .seconds(20))
            try await fixture.server.until { $0.connections.first?.peerLeft == true }
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }

    @Test("who reads slowly makes the server wait, and nothing piles up")
    func slowReader() async throws {
        try await Fixture.run { connection in
            try connection.stream(Stream.first)
            try connection.sendEndlessly(Array(Stream.text(String(repeating: "x", count: 4000)).utf8))
        } _: { fixture in
            let provider = try await fixture.provider()
            let (begun, signal) = AsyncStream.makeStream(of: Void.self)
            let (gate, opener) = AsyncStream.makeStream(of: Void.self)
            let task = Task {
                try await provider.answer(.hello) { events in
                    guard events.contains(where: { if case .text = $0 { true } else { false } }) else { return }
                    signal.yield()
                    // Does not come back before the test is done.
                    for await _ in gate {}
                    try Task.checkCancellation()
                }
            }
            var iterator = begun.makeAsyncIterator()
            _ = await iterator.next()
            // The buffers of both sides of the system take some megabytes, and then it stands still.
            var before = -1
            while case let now = fixture.server.record.bytesSent, now != before {
                before = now
                try await Task.sleep(for: .milliseconds(300))
            }
            #expect(before < 32 << 20)
            task.cancel()
            opener.finish()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("can wait for long: a stream of pings takes no memory")
    func flatMemory() async {
        // A process of its own, whose memory no other test touches.
        await #expect(processExitsWith: .success) {
            let ping = Array(String(repeating: ": ping\n\ndata: {\"type\":\"weather\"}\n\n", count: 2000).utf8)
            try await Fixture.run { connection in
                try connection.stream(Stream.first)
                for _ in 0..<300 { try connection.send(ping) }
                try connection.send(Stream.text("Hello") + Stream.end)
            } _: { fixture in
                let before = try TestProcess.residentBytes()
                try await fixture.expectHello()
                #expect(try TestProcess.residentBytes() - before < 24 << 20)
            }
        }
    }

    @Test("may have two conversations at once, of which one is stopped")
    func twoAtOnce() async throws {
        try await Fixture.run { connection in
            let request = try connection.receiveRequest()
            try connection.begin()
            try connection.send(Stream.first + Stream.text("Hello"))
            if request.json["model"] == "slow" { try connection.stall() }
            try connection.send(Stream.end)
        } _: { fixture in
            let provider = try await fixture.provider()
            let slow = Task { try await provider.answer(ChatRequest(model: "slow", messages: [])) { _ in } }
            try await fixture.server.until { $0.requests.count == 1 }
            let text = try await fixture.heard.ask(provider).message.text
            #expect(text == "Hello")
            slow.cancel()
            await #expect(throws: CancellationError.self) { try await slow.value }
        }
    }
}
