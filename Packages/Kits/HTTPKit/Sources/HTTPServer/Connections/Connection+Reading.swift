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

    /// Waits for the next request; nil once there will be none.
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
                    // The limit for a head counts from its first byte, so that a client cannot win time byte by byte.
                    isOfHead = hasBegun
                    deadline = .now + (hasBegun ? core.limits.head : core.limits.idle)
                }
                switch try await heed(direction, until: deadline) {
                case .ready: continue
                case .closed: return nil
                case .timedOut where hasBegun: throw RequestRefusal(HTTPStatus(408), "took too long to come")
                case .timedOut: return nil
                }
            }
        }
    }

    /// Waits for a direction. After a hang-up no wait is needed: reading finds what is left, and then the end.
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

    /// Receives onto the stack, so that an idle connection holds no buffer; nil when there is more to look at.
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

    /// Receives what is there, if the loop has told that there may be something.
    func receive(_ state: inout State, _ buffer: UnsafeMutableRawBufferPointer) -> Transport.Moved {
        let isHungUp = state.isHungUp
        let moved = descriptor.withDescriptor { descriptor, ready -> Transport.Moved in
            guard isHungUp || ready.contains(.readable) else { return .wait(.readable) }
            let moved = unsafe state.transport.receive(descriptor, buffer, &ready)
            // Nothing more can come, so waiting would have no end.
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

extension RequestParser {
    /// The next head; the end of the request before it is passed over.
    fileprivate mutating func nextHead(
        _ bytes: Span<UInt8>, _ offset: inout Int
    ) throws(RequestRefusal) -> HTTPRequestHead? {
        while let event = try next(bytes, &offset) {
            if case .head(let head) = event { return head }
        }
        return nil
    }
}
