import Glibc
import HTTPCore
import LoopKit
import Synchronization

extension Connection {
    private enum Step {
        case request(ServerRequest)
        case ended
        case wait(Readiness, hasBegun: Bool)
        case refused(RequestRefusal)
    }

    /// Waits for the next request; nil when there are no more.
    nonisolated(nonsending) func nextRequest() async throws -> ServerRequest? {
        var deadline: ContinuousClock.Instant?
        var isOfHead = false
        while true {
            switch takeHead() {
            case .request(let request): return request
            case .ended: return nil
            case .refused(let refusal): throw refusal
            case .wait(let direction, let hasBegun):
                if deadline == nil || isOfHead != hasBegun {
                    // The head limit counts from its first byte, so that a client cannot gain time byte by byte.
                    isOfHead = hasBegun
                    deadline = .now + (hasBegun ? core.limits.head : core.limits.idle)
                }
                switch try await heed(direction, until: deadline) {
                case .ready: continue
                case .closed: return nil
                case .timedOut where hasBegun: throw RequestRefusal(HTTPStatus(408), "took too long to arrive")
                case .timedOut: return nil
                }
            }
        }
    }

    /// Waits for a direction. After a hang-up it does not wait: reading returns the remaining bytes and then the end.
    nonisolated(nonsending) func heed(
        _ direction: Readiness, until deadline: ContinuousClock.Instant?
    ) async throws -> LoopDescriptor.Wake {
        do throws(CancellationError) {
            return direction == .readable
                ? try await descriptor.readable(until: deadline) : try await descriptor.writable(until: deadline)
        } catch {
            guard state.withLock({ $0.isHungUp }) else { throw error }
            return .ready
        }
    }

    // Not inlined, because the buffer of `receiveHead` would become part of the task's memory.
    @inline(never)
    private func takeHead() -> Step {
        state.withLock { state in
            state.isBusy = false
            while true {
                do throws(RequestRefusal) {
                    if let head = try state.parseUnread() {
                        return .request(begin(head, &state))
                    }
                } catch {
                    return .refused(error)
                }
                if state.isLast, state.parser.isBetweenRequests { return .ended }
                switch receiveHead(&state) {
                case .success(let step): if let step { return step }
                case .failure(let refusal): return .refused(refusal)
                }
            }
        }
    }

    /// Receives onto the stack, so that an idle connection has no buffer; nil when there is more to parse.
    private func receiveHead(_ state: inout State) -> Result<Step?, RequestRefusal> {
        unsafe withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { buffer in
            switch unsafe receive(&state, buffer) {
            case .ended, .failed: return .success(.ended)
            case .wait(let direction):
                return .success(.wait(direction, hasBegun: !state.parser.isBetweenRequests))
            case .bytes(let count):
                let bytes = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<count])
                let span = unsafe bytes.bindMemory(to: UInt8.self).span
                var offset = 0
                do throws(RequestRefusal) {
                    let head = try state.parser.nextHead(span, &offset)
                    if offset < count { unsafe state.unread.append(contentsOf: bytes[offset...]) }
                    guard let head else { return .success(nil) }
                    return .success(.request(begin(head, &state)))
                } catch {
                    return .failure(error)
                }
            }
        }
    }

    private func begin(_ head: HTTPRequestHead, _ state: inout State) -> ServerRequest {
        state.begin(head)
        return ServerRequest(head, id: core.requestID(head), self, number: state.exchange.number)
    }

    /// Receives the available bytes if the loop reported that there may be some.
    func receive(_ state: inout State, _ buffer: UnsafeMutableRawBufferPointer) -> Transport.Moved {
        let isHungUp = state.isHungUp
        let moved = descriptor.withDescriptor { descriptor, ready -> Transport.Moved in
            guard isHungUp || ready.contains(.readable) else { return .wait(.readable) }
            let moved = unsafe state.transport.receive(descriptor, buffer, &ready)
            // Nothing more can arrive, so waiting would never end.
            if isHungUp, case .wait(.readable) = moved { return .ended }
            return moved
        }
        return moved ?? .ended
    }
}

extension Connection.State {
    fileprivate mutating func begin(_ head: HTTPRequestHead) {
        isBusy = true
        exchange = Connection.Exchange(number: exchange.number + 1)
        exchange.body = head.body == .none || head.body == .length(0) ? .ended : .open(received: 0)
        exchange.owesContinue = head.expectsContinue
    }

    fileprivate mutating func parseUnread() throws(RequestRefusal) -> HTTPRequestHead? {
        guard !unread.isEmpty else { return nil }
        let bytes = unread
        unread = []
        var offset = 0
        let head = try parser.nextHead(bytes.span, &offset)
        if offset < bytes.count { unread = Array(bytes[offset...]) }
        return head
    }
}

extension Connection {
    private enum BodyStep {
        case piece([UInt8])
        case ended
        case wait(Readiness)
        case askToContinue
        case failed(any Error)
    }

    /// The next piece of that request's body; nil at its end.
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
                case .timedOut: throw fail(RequestRefusal(HTTPStatus(408), "has a body that stopped arriving"))
                }
            }
        }
    }

    /// The time limit for the next body bytes. Time that a handler spends between reads is not the client's fault.
    @inline(never)
    private func patience() -> Duration {
        state.withLock { state in
            guard case .open(let received) = state.exchange.body else { return core.limits.stall }
            let earned = Duration.milliseconds(received * 1000 / max(core.limits.bodyPace, 1))
            return min(core.limits.stall, max(.zero, core.limits.stall + earned - state.exchange.waited))
        }
    }

    /// Discards the unread rest of a body; false when it is too large and the connection must end.
    nonisolated(nonsending) func discardBody(of number: Int) async throws -> Bool {
        while true {
            let isEnded: Bool? = state.withLock { state in
                switch state.exchange.body {
                case .ended: true
                case .refused: false
                // The client waits for a 100 Continue that it will not get, and may send the body or omit it.
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
                // A client that already sends the body does not need the 100 Continue.
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
    /// Returns the bytes that belong to the body; the rest is kept for the next request.
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
