import HTTPCore
import Synchronization

extension Connection {
    struct StreamPlan {
        /// All of an answer that has no body.
        var bare: [UInt8]?
        var isEvents = false
        let closes: Bool
    }

    @inline(never)
    nonisolated(nonsending) func writeEvents(
        _ answer: HTTPAnswer, _ request: ServerRequest, _ body: (EventStreamWriter) async throws -> Void
    ) async throws -> Bool {
        let plan = try beginStream(answer, nil, request, isEvents: true)
        return try await writeStream(plan, request) { writer in
            try await writer.begin()
            try await body(EventStreamWriter(body: writer, lastEventID: request.headers["Last-Event-ID"]))
        }
    }

    @inline(never)
    func beginStream(
        _ answer: HTTPAnswer, _ length: Int?, _ request: ServerRequest, isEvents: Bool
    ) throws -> StreamPlan {
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
            state.exchange.quietSince = isEvents ? .now : nil
        }
        return StreamPlan(isEvents: isEvents, closes: head.closes)
    }

    @inline(never)
    nonisolated(nonsending) func writeStream(
        _ plan: StreamPlan, _ request: ServerRequest, _ body: (BodyWriter) async throws -> Void
    ) async throws -> Bool {
        if let bare = plan.bare {
            try await send(bare)
            return !plan.closes
        }
        if plan.isEvents { core.streams.add(self) }
        defer {
            if plan.isEvents { core.streams.remove(self) }
            state.withLock { $0.exchange.isOpen = false }
        }
        try await body(BodyWriter(connection: self, number: request.number))
        try await send(try endOfStream())
        return !plan.closes
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
