import Glibc
import LoopKit
import Testing

@Suite("Waiting for a descriptor", .timeLimit(.minutes(5)))
struct WaitTests {
    let loop = EventLoop()

    @Test("A wait after an attempt that would block ends when there is something to read")
    func readable() async throws {
        let pair = try SocketPair(loop)
        #expect(pair.receive() == .wouldBlock)
        async let wake = pair.watched.readable()
        pair.send()
        #expect(try await wake == .ready)
        #expect(pair.receive() == .moved(1))
        #expect(pair.receive() == .wouldBlock)
        pair.end()
    }

    @Test("Readiness before the wait is remembered until an attempt finds nothing")
    func remembered() async throws {
        let pair = try SocketPair(loop)
        #expect(pair.receive() == .wouldBlock)
        pair.send()
        for _ in 0..<3 { #expect(try await pair.watched.readable() == .ready) }
        #expect(pair.receive() == .moved(1))
        #expect(pair.receive() == .wouldBlock)
        #expect(try await pair.watched.readable(until: .now) == .timedOut)
        pair.end()
    }

    @Test("A wait to write to a full socket lasts until the peer has read")
    func writable() async throws {
        let pair = try SocketPair(loop)
        let block = [UInt8](repeating: 7, count: 1 << 16)
        func write() -> LoopDescriptor.Attempt {
            pair.watched.attempt(.writable) { unsafe send($0, block, block.count, Int32(MSG_NOSIGNAL)) }
        }
        while case .moved = write() {}
        #expect(write() == .wouldBlock)
        // Reading remains possible, because the directions are independent.
        pair.send()
        #expect(try await pair.watched.readable() == .ready)
        async let wake = pair.watched.writable()
        var sink = [UInt8](repeating: 0, count: 1 << 20)
        #expect(unsafe read(pair.peer, &sink, sink.count) > 0)
        #expect(try await wake == .ready)
        guard case .moved = write() else {
            Issue.record("there was room")
            return
        }
        pair.end()
    }

    @Test("A deadline ends a wait, the earliest first, and a later event is not lost")
    func deadline() async throws {
        let pair = try SocketPair(loop)
        #expect(pair.receive() == .wouldBlock)
        let start = ContinuousClock.now
        async let late = pair.watched.readable(until: start + .milliseconds(60))
        async let early = pair.watched.readable(until: start + .milliseconds(20))
        #expect(try await early == .timedOut)
        let between = ContinuousClock.now - start
        #expect(between >= .milliseconds(20))
        #expect(try await late == .timedOut)
        #expect(ContinuousClock.now - start >= .milliseconds(60))
        pair.send()
        #expect(try await pair.watched.readable(until: .now + .seconds(30)) == .ready)
        pair.end()
    }

    @Test("Extended deadlines are met, even if an earlier one is added in between")
    func movedDeadlines() async throws {
        let pair = try SocketPair(loop)
        let start = ContinuousClock.now
        for step in 1...20 {
            pair.send()
            while pair.receive() == .moved(1) {}
            async let wake = pair.watched.readable(until: start + .seconds(30 + step))
            pair.send()
            #expect(try await wake == .ready)
            while pair.receive() == .moved(1) {}
        }
        let short = ContinuousClock.now + .milliseconds(10)
        #expect(try await pair.watched.readable(until: short) == .timedOut)
        #expect(ContinuousClock.now >= short)
        #expect(ContinuousClock.now < start + .seconds(30))
        pair.end()
    }

    @Test("Many deadlines, added in any order, expire in order")
    func manyDeadlines() async throws {
        let loop = loop
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<300 {
                group.addTask {
                    let pair = try SocketPair(loop)
                    #expect(pair.receive() == .wouldBlock)
                    let deadline = ContinuousClock.now + .milliseconds(index * 7919 % 300)
                    #expect(try await pair.watched.readable(until: deadline) == .timedOut)
                    #expect(ContinuousClock.now >= deadline)
                    pair.end()
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("Cancelling a task ends only its own wait")
    func cancelled() async throws {
        let pair = try SocketPair(loop)
        #expect(pair.receive() == .wouldBlock)
        let cancelled = Task { try await pair.watched.readable() }
        let other = Task { try await pair.watched.readable() }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        pair.send()
        #expect(try await other.value == .ready)
        pair.end()
    }

    @Test("A cleanup wait continues through cancellation until its deadline")
    func throughCancellation() async throws {
        let pair = try SocketPair(loop)
        #expect(pair.receive() == .wouldBlock)
        let waiting = Task {
            let late = await pair.watched.readyThroughCancellation(.readable, until: .now + .milliseconds(5))
            return (late, await pair.watched.readyThroughCancellation(.readable))
        }
        waiting.cancel()
        pair.send()
        let (_, last) = await waiting.value
        #expect(last == .ready)
        #expect(pair.receive() == .moved(1))
        #expect(pair.receive() == .wouldBlock)
        #expect(await pair.watched.readyThroughCancellation(.readable, until: .now + .milliseconds(5)) == .timedOut)
        pair.end()
    }

    @Test("The deadline of a cleanup wait is met even if the descriptor is always ready")
    func alwaysReady() async throws {
        let pair = try SocketPair(loop)
        #expect(await pair.watched.readyThroughCancellation(.readable, until: .now + .seconds(100)) == .ready)
        #expect(await pair.watched.readyThroughCancellation(.readable, until: .now) == .timedOut)
        pair.end()
    }

    @Test("Closing a descriptor ends every wait, and later uses find it closed")
    func closed() async throws {
        let pair = try SocketPair(loop)
        #expect(pair.receive() == .wouldBlock)
        let waiting = (0..<4).map { _ in Task { try await pair.watched.readable() } }
        pair.watched.close()
        for task in waiting { #expect(try await task.value == .closed) }
        #expect(pair.receive() == .closed)
        #expect(try await pair.watched.writable() == .closed)
        #expect(pair.watched.withDescriptor { descriptor, _ in descriptor } == nil)
        #expect(pair.watched.release() == nil)
        pair.end()
    }

    @Test("A peer that closes wakes the reader and calls the hang-up handler once")
    func hangUp() async throws {
        let pair = try SocketPair(loop)
        #expect(pair.receive() == .wouldBlock)
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
        pair.watched.setHangUpHandler { continuation.yield() }
        async let wake = pair.watched.readable()
        close(pair.peer)
        #expect(try await wake == .ready)
        #expect(pair.receive() == .moved(0))
        var iterator = calls.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        // A handler set after the hang-up is called at once.
        let flag = Flag()
        pair.watched.setHangUpHandler { flag.set() }
        #expect(flag.isSet)
        pair.watched.close()
        continuation.finish()
        #expect(await iterator.next() == nil)
    }

    @Test("A peer that only stops sending counts as a hang-up, and a removed handler is not called")
    func halfClosed() async throws {
        let pair = try SocketPair(loop)
        #expect(pair.receive() == .wouldBlock)
        pair.watched.setHangUpHandler { Issue.record("the handler was taken back") }
        pair.watched.setHangUpHandler(nil)
        shutdown(pair.peer, Int32(SHUT_WR))
        #expect(try await pair.watched.readable() == .ready)
        #expect(pair.receive() == .moved(0))
        let flag = Flag()
        pair.watched.setHangUpHandler { flag.set() }
        #expect(flag.isSet)
        pair.end()
    }
}
