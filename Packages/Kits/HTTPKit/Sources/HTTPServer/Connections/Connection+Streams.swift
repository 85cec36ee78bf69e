import HTTPCore
import Synchronization

extension Connection {
    struct StreamPlan {
        /// All of an answer that has no body.
        var bare: [UInt8]?
        let closes: Bool
    }

    /// An event stream whose head was sent; an object, so that the task that runs it holds a reference only.
    final class EventStream: Sendable {
        let events: EventStreamWriter
        /// The number of its request.
        let number: Int
        let body: @Sendable (EventStreamWriter) async throws -> Void
        let closes: Bool
        /// Whether it ends only when one side goes.
        let isEndless: Bool

        init(
            _ events: EventStreamWriter, _ number: Int, closes: Bool, isEndless: Bool,
            _ body: @escaping @Sendable (EventStreamWriter) async throws -> Void
        ) {
            (self.events, self.number, self.closes, self.body) = (events, number, closes, body)
            self.isEndless = isEndless
        }
    }

    @inline(never)
    func beginStream(_ answer: HTTPAnswer, _ length: Int?, _ request: ServerRequest) throws -> StreamPlan {
        let framing: AnswerHead.Framing =
            length.map { .length($0) } ?? (request.head.version == .http11 ? .chunked : .untilClose)
        let head = makeHead(answer.status, answer.headers, framing, request.head)
        var bytes: [UInt8] = []
        try head.write(into: &bytes, core.dateLine)
        if head.framing == .bare || request.method == .head {
            begin(head, 0)
            return StreamPlan(bare: bytes, closes: head.closes)
        }
        state.withLock { state in
            state.exchange.status = head.status
            state.exchange.head = bytes
            state.exchange.isChunked = framing == .chunked
            state.exchange.left = length
            state.exchange.isOpen = true
        }
        return StreamPlan(closes: head.closes)
    }

    @inline(never)
    nonisolated(nonsending) func writeStream(
        _ plan: StreamPlan, _ number: Int, _ body: @Sendable (BodyWriter) async throws -> Void
    ) async throws -> Bool {
        if let bare = plan.bare {
            try await send(bare)
            return !plan.closes
        }
        defer { closeStream() }
        try await body(BodyWriter(connection: self, number: number))
        // Before the end of the answer is sent: who sees that may count on the room.
        leave()
        try await send(try endOfStream())
        return !plan.closes
    }

    /// Runs an event stream to its end, with signs of life when it is silent.
    @inline(never)
    nonisolated(nonsending) func run(_ stream: EventStream) async throws -> Bool {
        defer { closeStream() }
        keepAlive(isEndless: stream.isEndless)
        do {
            try await stream.body(stream.events)
        } catch is CancellationError where stream.isEndless && core.isEnding.load(ordering: .relaxed) {
            // This is how an endless one ends in good order.
        }
        leave()
        try await send(try endOfStream())
        return !stream.closes
    }

    @inline(never)
    private func keepAlive(isEndless: Bool) {
        let isLate = state.withLock { state in
            state.exchange.quietSince = .now
            state.exchange.isEndless = isEndless
            return state.isLast && isEndless
        }
        core.streams.add(self)
        // The server has told the others already.
        if isLate { cancel() }
    }

    @inline(never)
    private func closeStream() {
        let isEvents = state.withLock { state in
            state.exchange.isOpen = false
            return state.exchange.quietSince != nil
        }
        if isEvents { core.streams.remove(self) }
    }

    @inline(never)
    private func endOfStream() throws -> [UInt8] {
        try state.withLock { state in
            state.exchange.isOpen = false
            if let left = state.exchange.left, left > 0 { throw StreamTooShort() }
            state.exchange.hasBegun = true
            return (state.exchange.head.take() ?? []) + (state.exchange.isChunked ? Array("0\r\n\r\n".utf8) : [])
        }
    }
}

/// A stream wrote less than the length that it had told: a mistake of the handler.
struct StreamTooShort: Error {}
