import Capabilities
import ChatProviders
import CoreTesting
import HTTPClient
import HTTPCore
import HTTPTesting
import JSON
import Synchronization
import Testing

@Suite("Stopping and slow readers", .timeLimit(.minutes(5)))
struct StopTests {
    @Test("A stop takes effect at once, here and at the server")
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

    @Test("A slow reader makes the server wait, and nothing piles up")
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
                    // Does not return before the test ends.
                    for await _ in gate {}
                    try Task.checkCancellation()
                }
            }
            var iterator = begun.makeAsyncIterator()
            _ = await iterator.next()
            // The buffers of both sides of the system hold some megabytes before it stalls.
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

    @Test("A long wait with a stream of pings uses no memory")
    func flatMemory() async {
        // A separate process, whose memory no other test uses.
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

    @Test("One of two simultaneous conversations can be stopped")
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
