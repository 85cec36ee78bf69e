import HTTPClient
import Synchronization

/// A connection whose server is the test.
final class FakeConnection: KeptConnection {
    private let incoming: AsyncThrowingStream<String, any Error>
    private let server: AsyncThrowingStream<String, any Error>.Continuation
    private let pings = AsyncStream.makeStream(of: Void.self)
    private let closes = AsyncStream.makeStream(of: Void.self)
    private let closed = Mutex(false)

    init() { (incoming, server) = AsyncThrowingStream.makeStream(of: String.self) }

    func send(_ text: String) { server.yield(text) }

    func end(with error: (any Error)?) { server.finish(throwing: error) }

    func receive() async throws -> String? {
        var iterator = incoming.makeAsyncIterator()
        let input = try await iterator.next()
        // A cancelled stream just ends, so cancellation is checked here.
        try Task.checkCancellation()
        return input
    }

    func ping() async throws { pings.continuation.yield() }

    func close() async {
        closed.withLock { $0 = true }
        closes.continuation.yield()
    }

    var isClosed: Bool { closed.withLock { $0 } }

    func untilPinged() async { for await _ in pings.stream { return } }

    func untilClosed() async { for await _ in closes.stream { return } }
}

/// Makes connections, fails or hangs, as the test sets it.
final class FakeMaker: Sendable {
    private struct State {
        var error: (any Error)?
        var hangs = false
        var attempts = 0
    }

    let made: AsyncStream<FakeConnection>
    private let list: AsyncStream<FakeConnection>.Continuation
    private let hanging = AsyncStream.makeStream(of: Void.self)
    private let state = Mutex(State())

    init() { (made, list) = AsyncStream.makeStream(of: FakeConnection.self) }

    var attempts: Int { state.withLock { $0.attempts } }

    func fail(with error: any Error) { state.withLock { $0.error = error } }

    func hang(_ hangs: Bool) { state.withLock { $0.hangs = hangs } }

    func untilHanging() async { for await _ in hanging.stream { return } }

    func make() async throws -> FakeConnection {
        let (error, hangs) = state.withLock { state in
            state.attempts += 1
            return (state.error, state.hangs)
        }
        if let error { throw error }
        if hangs {
            hanging.continuation.yield()
            for await _ in AsyncStream(Never.self, { _ in }) {}
            throw CancellationError()
        }
        let connection = FakeConnection()
        list.yield(connection)
        return connection
    }
}
