import Glibc
import HTTPCore
import LoopKit
import Synchronization

extension Connection {
    enum Flush {
        case done
        case wait(Readiness)
        case failed
    }

    /// Sends all bytes even if the task was cancelled: a finished response is always sent.
    nonisolated(nonsending) func send(_ bytes: [UInt8]) async throws {
        var step = state.withLock { state in
            state.enqueue(bytes)
            return flush(&state)
        }
        while true {
            switch step {
            case .done: return
            case .failed: throw ClientGone.closed
            case .wait(let direction):
                let deadline = ContinuousClock.now + core.limits.stall
                switch await descriptor.readyThroughCancellation(direction, until: deadline) {
                case .ready: step = state.withLock { flush(&$0) }
                case .closed: throw ClientGone.closed
                case .timedOut: throw stalled()
                }
            }
        }
    }

    /// Writes a piece of a stream and returns once the system has accepted all of it, so that a slow client slows the
    /// producer.
    nonisolated(nonsending) func writePiece(_ bytes: [UInt8], of number: Int) async throws {
        try await write(of: number) { bytes }
    }

    /// Writes the result of `make`, which is called under the lock so that pieces are sent in the order in which they
    /// are made.
    nonisolated(nonsending) func write(of number: Int, _ make: () throws -> [UInt8]) async throws {
        try Task.checkCancellation()
        var step = try state.withLock { state in
            try state.enqueuePiece(try make(), of: number)
            return flush(&state)
        }
        while true {
            switch step {
            case .done: return
            case .failed: throw ClientGone.closed
            case .wait(let direction):
                let deadline = ContinuousClock.now + core.limits.stall
                let wake =
                    direction == .writable
                    ? try await descriptor.writable(until: deadline) : try await descriptor.readable(until: deadline)
                switch wake {
                case .ready: step = state.withLock { flush(&$0) }
                case .closed: throw ClientGone.closed
                case .timedOut: throw stalled()
                }
            }
        }
    }

    /// Writes a piece of a stream as far as the system accepts it; false while the rest waits.
    func offerPiece(_ bytes: [UInt8], of number: Int) throws -> Bool {
        let step = try state.withLock { state in
            try state.enqueuePiece(bytes, of: number)
            return flush(&state)
        }
        switch step {
        case .done: return true
        case .wait: return false
        case .failed: throw ClientGone.closed
        }
    }

    /// Sends waiting bytes as far as the system accepts them.
    func flush(_ state: inout State) -> Flush {
        while state.sent < state.outgoing.count {
            let moved = descriptor.withDescriptor { descriptor, ready in
                state.transport.send(descriptor, state.outgoing.span.extracting(state.sent...), &ready)
            }
            switch moved {
            case .bytes(let count): state.sent += count
            case .wait(let direction): return .wait(direction)
            case .ended, .failed, nil: return .failed
            }
        }
        // The buffer is released, because most streams are idle most of the time.
        (state.outgoing, state.sent) = ([], 0)
        return .done
    }

    private func stalled() -> ClientGone {
        descriptor.close()
        return .stalled
    }

    /// Shows a client of a quiet event stream, and every proxy on the way, that the stream is alive.
    func heartbeat(quietFor interval: Duration, now: ContinuousClock.Instant) {
        let isStuck = state.withLock { state -> Bool in
            guard state.exchange.isOpen, let quiet = state.exchange.quietSince else { return false }
            if state.outgoing.isEmpty {
                guard now - quiet >= interval else { return false }
                state.exchange.quietSince = now
                do { try state.enqueuePiece(Self.comment, of: state.exchange.number) } catch { return false }
                if case .failed = flush(&state) { return true }
                return false
            }
            // A waiting writer has its own limit; bytes left here are from an older heartbeat.
            if case .failed = flush(&state) { return true }
            return !state.outgoing.isEmpty && now - quiet >= interval + core.limits.stall
        }
        if isStuck { abort() }
    }

    private static let comment = Array(":\n\n".utf8)
}

extension Connection.State {
    fileprivate mutating func enqueue(_ bytes: [UInt8]) {
        if outgoing.isEmpty { outgoing = bytes } else { outgoing.append(contentsOf: bytes) }
    }

    /// The number of events in a piece of whole ones; comments are none.
    private static func events(in bytes: [UInt8]) -> Int {
        let (lineFeed, colon) = (UInt8(ascii: "\n"), UInt8(ascii: ":"))
        var (count, start) = (0, 0)
        for place in bytes.indices.dropFirst() where bytes[place] == lineFeed && bytes[place - 1] == lineFeed {
            if bytes[start] != colon { count += 1 }
            start = min(place + 1, bytes.count - 1)
        }
        return count
    }

    fileprivate mutating func enqueuePiece(_ bytes: [UInt8], of number: Int) throws {
        guard exchange.number == number, exchange.isOpen else { throw ClientGone.finished }
        if let left = exchange.left {
            guard bytes.count <= left else { throw StreamTooLong() }
            exchange.left = left - bytes.count
        }
        var piece = exchange.head.take() ?? []
        exchange.hasBegun = true
        if exchange.quietSince != nil {
            exchange.quietSince = .now
            if exchange.observation != nil { exchange.events += Self.events(in: bytes) }
        }
        exchange.written += bytes.count
        if exchange.isChunked, !bytes.isEmpty {
            piece.reserveCapacity(piece.count + bytes.count + 20)
            piece.append(contentsOf: String(bytes.count, radix: 16).utf8)
            piece.append(contentsOf: "\r\n".utf8)
            piece.append(contentsOf: bytes)
            piece.append(contentsOf: "\r\n".utf8)
            enqueue(piece)
        } else if piece.isEmpty {
            enqueue(bytes)
        } else {
            piece.append(contentsOf: bytes)
            enqueue(piece)
        }
    }
}

/// A stream wrote more than its declared length: an error in the handler.
struct StreamTooLong: Error {}

extension Connection {
    struct StreamPlan {
        /// The complete response, if it has no body.
        var bare: [UInt8]?
        let closes: Bool
    }

    /// An event stream whose head was sent. It is an object so that its task holds only a reference.
    final class EventStream: Sendable {
        let events: EventStreamWriter
        /// The number of its request.
        let number: Int
        let body: @Sendable (EventStreamWriter) async throws -> Void
        let closes: Bool
        /// Whether it ends only when one side leaves.
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
        // Done before the end of the response is sent: a client that sees the end may rely on the free place.
        leave()
        try await send(try endOfStream())
        return !plan.closes
    }

    /// Runs an event stream to its end, with heartbeats while it is silent.
    @inline(never)
    nonisolated(nonsending) func run(_ stream: EventStream) async throws -> Bool {
        defer { closeStream() }
        keepAlive(isEndless: stream.isEndless)
        do {
            try await stream.body(stream.events)
        } catch is CancellationError where stream.isEndless && core.isEnding.load(ordering: .relaxed) {
            // An endless stream normally ends this way.
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
        // The server has already cancelled the others.
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

/// A stream wrote less than its declared length: an error in the handler.
struct StreamTooShort: Error {}
