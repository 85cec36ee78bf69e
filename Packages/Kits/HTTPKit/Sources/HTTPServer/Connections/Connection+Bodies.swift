import HTTPCore
import LoopKit
import Synchronization

extension Connection {
    private enum BodyStep {
        case piece([UInt8])
        case ended
        case wait(Readiness)
        case askToContinue
        case failed(any Error)
    }

    /// The next piece of the body of that request; nil at its end.
    nonisolated(nonsending) func nextPiece(of number: Int, limit: Int) async throws -> [UInt8]? {
        while true {
            switch takePiece(of: number, limit: limit) {
            case .piece(let piece): return piece
            case .ended: return nil
            case .failed(let error): throw error
            case .askToContinue: try await send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
            case .wait(let direction):
                let start = ContinuousClock.now
                let wake = try await heed(direction, until: start + patience())
                switch wake {
                case .ready: state.withLock { $0.exchange.waited += ContinuousClock.now - start }
                case .closed: throw ClientGone.closed
                case .timedOut: throw fail(RequestRefusal(HTTPStatus(408), "has a body that stopped coming"))
                }
            }
        }
    }

    /// How long the next bytes of the body may take. What a handler does between them is not the client's fault.
    @inline(never)
    private func patience() -> Duration {
        state.withLock { state in
            guard case .open(let received) = state.exchange.body else { return core.limits.stall }
            let earned = Duration.milliseconds(received * 1000 / max(core.limits.bodyPace, 1))
            return min(core.limits.stall, max(.zero, core.limits.stall + earned - state.exchange.waited))
        }
    }

    /// Throws away what is left of a body that nobody wanted; false when it is too much, so that the connection ends.
    nonisolated(nonsending) func discardBody(of number: Int) async throws -> Bool {
        while true {
            let isEnded: Bool? = state.withLock { state in
                switch state.exchange.body {
                case .ended: true
                case .refused: false
                // The client waits for a word that it will not get, and may send the body or leave it.
                case .open where state.exchange.owesContinue: false
                case .open(let received): received <= core.limits.discarded ? nil : false
                }
            }
            if let isEnded { return isEnded }
            _ = try await nextPiece(of: number, limit: Int.max)
        }
    }

    private func fail(_ refusal: RequestRefusal) -> RequestRefusal {
        state.withLock { $0.exchange.body = .refused(refusal) }
        return refusal
    }

    private func takePiece(of number: Int, limit: Int) -> BodyStep {
        state.withLock { state in
            guard state.exchange.number == number else { return .failed(ClientGone.finished) }
            switch state.exchange.body {
            case .ended: return .ended
            case .refused(let refusal): return .failed(refusal)
            case .open: break
            }
            if state.exchange.owesContinue {
                state.exchange.owesContinue = false
                // A client that has begun to send does not need the word.
                if state.unread.isEmpty { return .askToContinue }
            }
            while true {
                var bytes = state.unread
                state.unread = []
                if bytes.isEmpty {
                    let moved: Transport.Moved
                    (bytes, moved) = receivePiece(&state)
                    switch moved {
                    case .bytes: break
                    case .wait(let direction): return .wait(direction)
                    case .ended, .failed: return .failed(ClientGone.closed)
                    }
                }
                do throws(RequestRefusal) {
                    let piece = try state.parseBody(bytes, limit: limit)
                    if !piece.isEmpty { return .piece(piece) }
                    if case .ended = state.exchange.body { return .ended }
                } catch {
                    state.exchange.body = .refused(error)
                    return .failed(error)
                }
            }
        }
    }

    private func receivePiece(_ state: inout State) -> ([UInt8], Transport.Moved) {
        var moved = Transport.Moved.ended
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, count in
            moved = unsafe receive(&state, UnsafeMutableRawBufferPointer(buffer))
            if case .bytes(let received) = moved { count = received }
        }
        return (bytes, moved)
    }
}

extension Connection.State {
    /// The part of the bytes that belongs to the body; the rest is kept for the next request.
    fileprivate mutating func parseBody(_ bytes: [UInt8], limit: Int) throws(RequestRefusal) -> [UInt8] {
        guard case .open(let received) = exchange.body else { return [] }
        var offset = 0
        var ranges: [Range<Int>] = []
        var total = received
        var isEnded = false
        while !isEnded, let event = try parser.next(bytes.span, &offset) {
            switch event {
            case .body(let range):
                ranges.append(range)
                total += range.count
                guard total <= limit else {
                    throw RequestRefusal(.contentTooLarge, "has a body of more than \(limit) bytes")
                }
            case .end: isEnded = true
            case .head: break
            }
        }
        exchange.body = isEnded ? .ended : .open(received: total)
        if offset < bytes.count { unread = Array(bytes[offset...]) }
        if ranges.count == 1, ranges[0].count == bytes.count { return bytes }
        var piece: [UInt8] = []
        piece.reserveCapacity(total - received)
        for range in ranges { piece.append(bytes.span, range) }
        return piece
    }
}
