/// A door that one task opens for another.
struct Door: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream()
    }

    func open() { continuation.finish() }

    /// Waits until it is open; throws when the task is cancelled before.
    func pass() async throws {
        for await _ in stream {}
        try Task.checkCancellation()
    }
}
