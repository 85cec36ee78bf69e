import Capabilities
import CoreTesting
import HTTPClient
import HTTPCore
import Synchronization
import Testing

@Suite("Reconnecting connection", .timeLimit(.minutes(5)))
struct ReconnectingConnectionTests {
    let clock = HandClock()

    @Test("A lost connection comes back after its wait, and its messages are delivered")  // row D-02
    func comesBack() async throws {
        let maker = FakeMaker()
        let connection = ReconnectingConnection(clock: clock) { try await maker.make() }
        let (inputs, received) = AsyncStream.makeStream(of: String.self)
        let sink = RecordingSpanSink()
        let tracer = Tracer(sinks: [sink], now: Timestamp.now)
        let running = Task {
            try await tracer.span("work", of: "test") { _ in try await connection.run { received.yield($0) } }
        }
        var made = maker.made.makeAsyncIterator()
        var input = inputs.makeAsyncIterator()

        let first = try #require(await made.next())
        first.send("one")
        #expect(await input.next() == "one")
        #expect(connection.state == .connected)
        #expect(connection.current === first)
        first.end(with: Lost())
        await clock.untilSleeping(for: .seconds(1))
        #expect(connection.current == nil)
        #expect(connection.lastError is Lost)
        #expect(connection.state == .reconnecting(attempt: 1, at: clock.now.advanced(by: .seconds(1))))
        clock.advance(by: .seconds(1))
        let second = try #require(await made.next())
        second.send("two")
        #expect(await input.next() == "two")
        // A close by the server also leads to another attempt.
        second.end(with: nil)
        await clock.untilSleeping(for: .seconds(1))
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        #expect(connection.state == .disconnected)
        #expect(first.isClosed && second.isClosed)
        // Each change of the state is an event of the span.
        let states = [
            "connecting", "connected", "reconnecting", "connecting", "connected", "reconnecting", "disconnected",
        ]
        #expect(sink.spans.map(\.name) == ["websocket", "work"])
        #expect(sink.spans.first?.events.map(\.name) == states.map { "websocket.\($0)" })
    }

    @Test("A permanent error ends the connection at once and is kept as the reason")
    func refused() async throws {
        let certificate = HTTPError(.certificate, "not trusted", mayHaveBeenSent: false)
        for error in [certificate, HTTPError(.status, "no", status: .unauthorized), HTTPError(.invalidURL, "none")] {
            let maker = FakeMaker()
            maker.fail(with: error)
            let connection = ReconnectingConnection(clock: clock) { try await maker.make() }
            try await connection.run { (_: String) in }
            #expect(maker.attempts == 1 && connection.state == .disconnected)
            #expect((connection.lastError as? HTTPError)?.kind == error.kind)
        }
        #expect(!isFinalForConnections(HTTPError(.status, "soon", status: .serviceUnavailable)))
        #expect(!isFinalForConnections(HTTPError(.reset, "gone")) && !isFinalForConnections(Lost()))
    }

    @Test(
        "An error is permanent only if it needs a person or another address",
        arguments: [
            (Told(exit: .denied), true), (Told(exit: .usage), true), (Told(exit: .unanswered), true),
            (Told(exit: .failed), false), (Told(exit: .unreachable), false),
            (HTTPError(.status, "no", status: .forbidden), true), (HTTPError(.status, "no", status: .notFound), true),
            (HTTPError(.status, "later", status: .tooManyRequests), false),
            (HTTPError(.status, "later", status: HTTPStatus(408)), false),
            (HTTPError(.status, "ill", status: .badGateway), false),
        ] as [(any Error, Bool)])
    func kinds(error: any Error, isFinal: Bool) {
        #expect(isFinalForConnections(error) == isFinal)
    }

    @Test("Ten failures end the connection, after the waits of row D-02")  // row D-02
    func givesUp() async throws {
        let maker = FakeMaker()
        maker.fail(with: Lost())
        let connection = ReconnectingConnection(clock: clock) { try await maker.make() }
        var states = connection.states().makeAsyncIterator()
        let running = Task { try await connection.run { (_: String) in } }
        for wait in [1, 2, 4, 8, 16, 30, 30, 30, 30] {
            await clock.untilSleeping(for: .seconds(wait))
            clock.advance(by: .seconds(wait))
        }
        try await running.value
        #expect(maker.attempts == 10)
        #expect(clock.now.offset == .seconds(151))
        var seen: [String] = []
        for _ in 0..<21 {
            switch await states.next() {
            case .disconnected: seen.append("d")
            case .connecting: seen.append("c")
            case .connected: seen.append("C")
            case .reconnecting(let attempt, _): seen.append("\(attempt)")
            case nil: seen.append("end")
            }
        }
        #expect(seen.joined() == "dc1c2c3c4c5c6c7c8c9cd")
    }

    @Test("A silent server is pinged, and after 45 seconds the connection is replaced")  // row D-03
    func silence() async throws {
        let maker = FakeMaker()
        let connection = ReconnectingConnection(clock: clock) { try await maker.make() }
        let running = Task { try await connection.run { (_: String) in } }
        var made = maker.made.makeAsyncIterator()
        let first = try #require(await made.next())
        await clock.untilSleeping(for: .seconds(30))
        clock.advance(by: .seconds(30))
        await first.untilPinged()
        await clock.untilSleeping(for: .seconds(15))
        clock.advance(by: .seconds(15))
        await clock.untilSleeping(for: .seconds(1))
        #expect(connection.current == nil)
        clock.advance(by: .seconds(1))
        #expect(await made.next() != nil)
        await first.untilClosed()
        running.cancel()
        _ = await running.result
    }

    @Test("A network change makes a new connection at once, also during an attempt")  // row D-04
    func networkChange() async throws {
        let maker = FakeMaker()
        let (changes, change) = AsyncStream.makeStream(of: Void.self)
        let connection = ReconnectingConnection(clock: clock) { changed in
            for await _ in changes { changed() }
        } _: {
            try await maker.make()
        }
        let running = Task { try await connection.run { (_: String) in } }
        var made = maker.made.makeAsyncIterator()
        let first = try #require(await made.next())
        await clock.untilSleeping(for: .seconds(30))
        change.yield()
        let second = try #require(await made.next())
        await first.untilClosed()
        // The next attempt hangs; the attempt after the network change does not.
        maker.hang(true)
        second.end(with: Lost())
        await clock.untilSleeping(for: .seconds(1))
        // Longer than the time in which network changes are combined.
        clock.advance(by: .seconds(2))
        await maker.untilHanging()
        maker.hang(false)
        change.yield()
        let third = try #require(await made.next())
        #expect(!third.isClosed)
        #expect(clock.now.offset == .seconds(2))
        running.cancel()
        _ = await running.result
        #expect(third.isClosed)
    }

    @Test("An error from the reader counts as a lost connection")
    func readerFails() async throws {
        let maker = FakeMaker()
        let connection = ReconnectingConnection(clock: clock) { try await maker.make() }
        let running = Task { try await connection.run { (_: String) in throw Lost() } }
        var made = maker.made.makeAsyncIterator()
        let first = try #require(await made.next())
        first.send("x")
        await clock.untilSleeping(for: .seconds(1))
        #expect(first.isClosed)
        running.cancel()
        _ = await running.result
    }

    @Test("A real WebSocket reconnects when the server is back")
    func webSocket() async throws {
        let box = Box()
        try await WebSocketPeer.run { peer in
            let path = "ws://127.0.0.1:\(peer.port)"
            box.set("\(path)/close?code=1012")
            var policy = ConnectionPolicy()
            policy.backoff = [.zero]
            let connection = ReconnectingConnection(policy: policy, clock: ContinuousClock()) {
                // The server closes the first connection at once.
                let request = try WebSocketRequest(box.take(then: "\(path)/head"))
                return KeptWebSocket(try await peer.client.connect(request))
            }
            let (inputs, received) = AsyncStream.makeStream(of: WebSocketReader.Input.self)
            let running = Task { try await connection.run { received.yield($0) } }
            for await input in inputs {
                guard case .message(let message) = input else { continue }
                #expect(message.text?.contains("/head") == true)
                break
            }
            running.cancel()
            await #expect(throws: CancellationError.self) { try await running.value }
        }
    }
}

private struct Lost: Error {}

/// An error thrown by the code that makes the connection.
private struct Told: Failure {
    let code = "test.told"
    let message = "no"
    let exit: ExitCode
}

/// An address that is used once, then replaced.
private final class Box: Sendable {
    private let address = Mutex<String?>(nil)

    func set(_ text: String) { address.withLock { $0 = text } }

    func take(then other: String) -> String {
        address.withLock { address in
            defer { address = nil }
            return address ?? other
        }
    }
}
