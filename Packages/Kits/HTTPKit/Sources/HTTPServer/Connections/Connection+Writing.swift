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

    /// Sends whole bytes that nobody can take back, also when the task was cancelled: an answer that exists is given.
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

    /// Writes a piece of a stream; returns once the system has all of it, so that a slow client slows the work.
    nonisolated(nonsending) func writePiece(_ bytes: [UInt8], of number: Int) async throws {
        try await write(of: number) { bytes }
    }

    /// Writes what `make` gives. It is called under the lock, so that pieces are sent in the order in which they are made.
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

    /// Writes a piece of a stream as far as the system takes it; false while some of it waits.
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

    /// Sends what waits, as far as the system takes it.
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
        // Nothing is kept for the next time: most streams are idle nearly always.
        (state.outgoing, state.sent) = ([], 0)
        return .done
    }

    private func stalled() -> ClientGone {
        descriptor.close()
        return .stalled
    }

    /// Tells a client of a quiet event stream, and every proxy on the way, that the stream is alive.
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
            // A writer that waits has its own limit; what is left here is an older heartbeat.
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

    fileprivate mutating func enqueuePiece(_ bytes: [UInt8], of number: Int) throws {
        guard exchange.number == number, exchange.isOpen else { throw ClientGone.finished }
        if let left = exchange.left {
            guard bytes.count <= left else { throw StreamTooLong() }
            exchange.left = left - bytes.count
        }
        var piece = exchange.head.take() ?? []
        exchange.hasBegun = true
        if exchange.quietSince != nil { exchange.quietSince = .now }
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

/// A stream wrote more than the length that it had told: a mistake of the handler.
struct StreamTooLong: Error {}
